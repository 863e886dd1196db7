import { afterAll, describe, expect, test } from "@jest/globals";
import { findOcr } from "../../../src/worker/ocr/places.ts";
import { readPictureHead } from "../../../src/worker/ocr/read-head.ts";
import {
  bmpOf,
  gifOf,
  jpegOf,
  pdfOf,
  pngOf,
  tiffOf,
  webpOf,
  withSegments,
} from "./hostile-pictures.ts";
import { FOLDERS, openReader, pageFile } from "./small-pages.ts";

const read = openReader();
afterAll(() => {
  read.close();
});

/** Reads a page, and counts how often the event loop was late meanwhile. */
async function refuse(bytes: Buffer, page = 1) {
  let last = performance.now();
  let longest = 0;
  const heart = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 20);
  const outcome = await read({ bytes, page, languages: ["eng"], second: "none" });
  clearInterval(heart);
  expect(longest).toBeLessThan(1_000);
  return outcome;
}

const refused = (why: string) => ({
  kind: "unreadable",
  lasts: "always",
  why: expect.stringContaining(why),
});

/** A picture with a whole one in its EXIF data. */
const withThumbnail = withSegments(
  pageFile("letter.jpg"),
  Buffer.concat([Buffer.from("Exif\0\0"), jpegOf(9, 9)]),
);

test("EXIF turns a photo, whatever XMP stands behind it", () => {
  const exif = Buffer.from(
    "Exif\0\0II*\0\b\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0",
    "latin1",
  );
  const xmp = Buffer.from("http://ns.adobe.com/xap/1.0/\0<x:xmpmeta/>");
  const photo = withSegments(pageFile("letter.jpg"), exif, xmp);
  expect(readPictureHead(photo, 1)).toMatchObject({ kind: "picture", orientation: 6 });
});

describe("a picture is refused before anything decodes it", () => {
  test.each([
    ["PNG", pngOf(50_000, 50_000), "has 50000 x 50000 pixels"],
    ["JPEG", jpegOf(65_500, 65_500), "has 65500 x 65500 pixels"],
    ["GIF", gifOf(60_000, 60_000, 1), "has 60000 x 60000 pixels"],
    ["WebP", webpOf(16_000, 16_000), "has 16000 x 16000 pixels"],
    ["BMP", bmpOf(30_000, 30_000), "has 30000 x 30000 pixels"],
    ["TIFF", tiffOf(40_000, 900, 1), "has 40000 x 900 pixels"],
    ["GIF of 10,000 frames", gifOf(10, 10, 10_000), "animated GIF of 10000 frames"],
    ["TIFF of 10,000 frames", tiffOf(10, 10, 10_000), "more than 5000 frames"],
    ["TIFF that leads back to itself", tiffOf(10, 10, 3, 8), "cut short or broken"],
    ["PNG that is cut short", pngOf(100, 100).subarray(0, -9), "cut short or broken"],
    ["JPEG that is cut short", pageFile("letter.jpg").subarray(0, 30_000), "cut short or broken"],
    ["JPEG of which only the thumbnail ends", withThumbnail.subarray(0, 30_000), "cut short"],
    ["WebP that is cut short", pageFile("invoice.webp").subarray(0, 9_000), "cut short or broken"],
    [
      "TIFF whose strip ends behind the file",
      tiffOf(10, 10, 1).subarray(0, -2),
      "cut short or broken",
    ],
    ["PNG whose chunk is longer than it", Buffer.from(pngOf(9, 9)).fill(0xff, 33, 37), "cut short"],
    ["file of another kind", Buffer.from("just a text"), "is no PNG, JPEG"],
    ["HEIC", Buffer.from("\0\0\0\x18ftypheic\0\0\0\0"), "is a HEIC or AVIF picture"],
  ])("%s", async (_, bytes, why) => {
    expect(await refuse(bytes)).toEqual(refused(why));
  });

  test("PNG whose head is true and whose pixels are not there", async () => {
    expect(await refuse(pngOf(4_000, 4_000))).toEqual(refused("can't be decoded"));
  });
});

describe("a page of a PDF", () => {
  test.each([
    ["of 99,999 points is not drawn", pdfOf(99_999), "has a page of 35 x 35 m"],
    [
      "whose picture claims 4,000 megapixels is not drawn",
      pdfOf(500, [62_479, 63_508]),
      "more than 100 megapixels",
    ],
    ["whose picture can't be decoded is no empty page", pdfOf(500, [800, 800]), "can't be read"],
    ["that is cut short", pageFile("carta.pdf").subarray(0, 400), "PDF"],
  ])("%s", async (_, bytes, why) => {
    expect(await refuse(bytes)).toEqual(refused(why));
  });

  test("that is empty is read as one", async () => {
    expect(await refuse(pdfOf(500))).toMatchObject({ kind: "read", record: { lines: [] } });
  });
});

test("the process is killed at its limits, and the next page is read by another", async () => {
  const tight = openReader({ timeoutMs: 900 });
  const letter = {
    bytes: pageFile("letter.jpg"),
    page: 1,
    languages: ["eng"],
    second: "fast",
  } as const;
  expect(await tight(letter)).toMatchObject({
    lasts: "perhaps",
    why: expect.stringContaining("0.9 s"),
  });
  expect(await tight({ ...letter, bytes: Buffer.from("no picture") })).toMatchObject({
    lasts: "always",
  });
  tight.close();
  const small = openReader({ memoryBytes: 130_000_000 });
  expect(await small(letter)).toMatchObject({
    lasts: "perhaps",
    why: expect.stringContaining("130 MB"),
  });
  small.close();
});

test("what is not installed is named with the command that installs it", async () => {
  await expect(
    read({ bytes: pageFile("letter.jpg"), page: 1, languages: ["eng", "pol"], second: "fast" }),
  ).rejects.toMatchObject({
    code: "OCR_MISSING",
    message: expect.stringContaining("pol.traineddata"),
  });
  const folders = { ...FOLDERS, models: "/absent/models" };
  expect(() => findOcr(folders, ["eng"])).toThrow("There is no folder /absent/models: make it");
});
