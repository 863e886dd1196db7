import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import type { PagePicture } from "../../../../src/shared/files/page-pictures.ts";
import type { Refusal } from "../../../../src/shared/failure.ts";
import { findPackage, PDFIUM, TESSERACT } from "../../../../src/worker/ocr/packages.ts";
import type { PageRecord, Turn } from "../../../../src/shared/pages/page-record.ts";
import type { PageToDraw } from "../../../../src/worker/ocr/place/draw-page.ts";
import { modelsOf } from "../../../../src/worker/ocr/places.ts";
import { readPictureHead } from "../../../../src/worker/ocr/read-head.ts";
import { root } from "../../../docs/read-doc.ts";
import { pictureOf } from "../../../../src/worker/ocr/place/page-picture.ts";
import { field, picture, put, widthOf, writePages } from "../../../support/pdf-pages.ts";

const LIMITS = { timeoutMs: 60_000, memoryBytes: 600_000_000 };

const FRAMES = {
  core: findPackage(TESSERACT, null) ?? "",
  model: modelsOf({ packages: null, packageRoot: root, models: null }, "eng")[1] ?? "",
};
const WANTED: Parameters<typeof pictureOf>[1] = {
  ...{ page: 1, words: "", before: "", after: "", width: 600, record: null },
  pdfium: findPackage(PDFIUM, null),
  frames: FRAMES,
};

const draw = (
  bytes: Buffer,
  wanted: Partial<PageToDraw>,
  limits = LIMITS,
): Promise<PagePicture | Refusal> =>
  pictureOf({ path: "bills/may.pdf", bytes }, { ...WANTED, ...wanted }, limits);

async function drawn(bytes: Buffer, wanted: Partial<PageToDraw>): Promise<PagePicture> {
  const outcome = await draw(bytes, wanted);
  if (outcome.kind === "refused") throw new Error(outcome.message);
  return outcome;
}

const [X, Y, SIZE] = [120, 600, 12];
const WORDS = "Mooring fee 71,73 euros";
const WIDTH = widthOf(WORDS, SIZE);
const content = put(50, 700, "Harbour of Brede") + put(X, Y, WORDS, { size: SIZE });

/** Of what stands at X, Y on a page of 595 by 842 points that is shown turned. */
const SHOWN = {
  0: [X, 842 - Y - SIZE, X + WIDTH, 842 - Y],
  90: [Y, X, Y + SIZE, X + WIDTH],
  180: [595 - X - WIDTH, Y, 595 - X, Y + SIZE],
  270: [842 - Y - SIZE, 595 - X - WIDTH, 842 - Y, 595 - X],
} as const;

test.each([0, 90, 180, 270] as const)(
  "marks the words where they stand on a page turned by %d degrees",
  async (turn) => {
    const bytes = writePages([{ content, more: `/Rotate ${turn}` }]);
    const { boxes, size, width, height, type } = await drawn(bytes, { words: "fee 71,73 euros" });
    const isUpright = turn % 180 === 0;
    expect({ type, width, height }).toEqual({
      type: "image/png",
      width: 600,
      height: isUpright ? 849 : 424,
    });
    expect(size).toEqual({
      unit: "points",
      ...(isUpright ? { width: 595, height: 842 } : { width: 842, height: 595 }),
    });
    const [[left, top, right, bottom] = [0, 0, 0, 0]] = boxes;
    const whole = SHOWN[turn];
    expect(boxes).toHaveLength(1);
    // Without "Mooring", and with a descender below the line.
    expect(left).toBeGreaterThan(whole[0] - 5);
    expect(top).toBeGreaterThan(whole[1] - 5);
    expect(right).toBeLessThan(whole[2] + 5);
    expect(bottom).toBeLessThan(whole[3] + 5);
    const along = isUpright ? right - left : bottom - top;
    expect(Math.abs(along - widthOf("fee 71,73 euros", SIZE))).toBeLessThan(8);
  },
  60_000,
);

test("marks what is filled in a form, where its field is", async () => {
  const annotations = [field("guest", "Ada Brook", [260, 590, 450, 615])];
  const bytes = writePages([{ content: put(100, 600, "Guest:"), annotations }]);
  const { boxes, share } = await drawn(bytes, { words: "Ada Brook" });
  const [box = []] = boxes;
  expect({ share, box: box.map((side) => Math.round(side / 10) * 10) }).toEqual({
    ...{ share: 1, box: [260, 220, 450, 260] },
  });
});

test("finds the page where it is not known", async () => {
  const bytes = writePages([{ content: put(50, 700, "Nothing") }, { content }, { content: "" }]);
  expect(await drawn(bytes, { page: null, words: WORDS })).toMatchObject({ page: 2, share: 1 });
});

test("shows the page without marks where the words are not on it", async () => {
  const bytes = writePages([{ content }]);
  expect(await drawn(bytes, { words: "Berth seven is taken" })).toMatchObject({
    boxes: [],
    share: 0,
  });
});

const record = (turned: Turn): PageRecord => ({
  picture: { format: "png", width: 1_000, height: 500 },
  ...{ turned, skew: 0, engine: "e", languages: ["eng"], mode: 3, leftInk: 0, confidence: 90 },
  lines: [
    {
      words: [
        { text: "fee", box: [100, 50, 200, 80], confidence: 91 },
        { text: "71,73", box: [210, 50, 300, 80], confidence: 66 },
      ],
    },
  ],
});

/** Margins are 4.2 pixels. */
test.each([
  [0, 1_000, 500, [96, 46, 304, 84]],
  [90, 500, 1_000, [46, 696, 84, 904]],
  [180, 1_000, 500, [696, 416, 904, 454]],
  [270, 500, 1_000, [416, 96, 454, 304]],
] as const)(
  "marks words that were read of a picture which was turned by %d degrees for it",
  async (turned, width, height, box) => {
    const png = Buffer.from("89504e470d0a1a0a0000", "hex");
    const shown = await drawn(png, { words: "fee 71,73", record: record(turned) });
    expect(shown).toMatchObject({ type: "image/png", bytes: png, page: null, width, height });
    expect(shown.boxes.map((sides) => sides.map(Math.round))).toEqual([box]);
  },
);

test("draws a frame of a TIFF as PNG, for no browser decodes it, in a process that may read little", async () => {
  const tiff = await readFile(join(root, "tests/corpora/scans/fax-012.tif"));
  const wanted = { words: "fee 71,73", record: record(0) };
  const shown = await drawn(tiff, { ...wanted, page: null });
  expect(shown).toMatchObject({ type: "image/png", page: 1, width: 1_000, height: 500 });
  // Its head says the size that the TIFF has.
  const head = readPictureHead(tiff, 1);
  const [width, height] = [shown.bytes.readUInt32BE(16), shown.bytes.readUInt32BE(20)];
  expect(head).toMatchObject({ format: "tiff", width, height });
  expect(shown.boxes).toHaveLength(1);
  const code = async (bytes: Buffer, more: object) => {
    const outcome = await pictureOf(
      { path: "a.tif", bytes },
      { ...WANTED, ...wanted, ...more },
      LIMITS,
    );
    return outcome.kind === "refused" ? outcome.code : outcome.kind;
  };
  expect(await code(tiff, { page: 2 })).toBe("FILE_FORMAT_INVALID");
  expect(await code(tiff.subarray(0, 300), {})).toBe("FILE_FORMAT_INVALID");
  expect(await code(tiff, { frames: undefined })).toBe("TOOL_UNAVAILABLE");
}, 60_000);

test("marks words that were read of the picture of a PDF's page, turned as they were read", async () => {
  const scan = writePages([{ content: picture(0, 0, 300, 842) }]);
  const { size, boxes } = await drawn(scan, { words: "fee 71,73", record: record(90) });
  expect(size).toEqual({ unit: "points", width: 842, height: 595 });
  expect(boxes.map(([left, top]) => [Math.round(left), Math.round(top)])).toEqual([[79, 55]]);
});

test("refuses what has no pages, what was never read, and what is broken", async () => {
  const codes = async (bytes: Buffer): Promise<string> => {
    const outcome = await draw(bytes, { words: "fee" });
    return outcome.kind === "refused" ? outcome.code : outcome.kind;
  };
  expect(await codes(Buffer.from("fee: 40"))).toBe("INVALID_ARGS");
  expect(await codes(Buffer.from("89504e470d0a1a0a0000", "hex"))).toBe("NO_TEXT_LAYER");
  expect(await codes(Buffer.from("%PDF-1.7 and nothing else"))).toBe("FILE_FORMAT_INVALID");
});

test("draws a page of 99,999 points small, and ends at its limits of time and memory", async () => {
  const huge = writePages([{ content, more: "/MediaBox [0 0 99999 99999]" }]);
  expect(await drawn(huge, { words: WORDS, width: 8_000 })).toMatchObject({
    width: 2_828,
    height: 2_828,
  });
  const late = await draw(huge, {}, { ...LIMITS, timeoutMs: 1 });
  expect(late).toMatchObject({
    code: "FILE_TOO_LARGE",
    message: expect.stringContaining("longer"),
  });
  const large = await draw(huge, { width: 8_000 }, { ...LIMITS, memoryBytes: 60_000_000 });
  expect(large).toMatchObject({
    code: "FILE_TOO_LARGE",
    message: expect.stringContaining("memory"),
  });
});

test("knows that the package is not installed", async () => {
  const missing = await pictureOf(
    { path: "a.pdf", bytes: Buffer.from("%PDF-1.7") },
    { ...WANTED, pdfium: undefined },
    LIMITS,
  );
  expect(missing).toMatchObject({ kind: "refused", code: "TOOL_UNAVAILABLE" });
});
