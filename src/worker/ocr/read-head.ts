import { readJpeg } from "./jpeg-head.ts";
import type { UnreadablePage } from "./page-outcome.ts";
import { readBmp, readGif, readPng, readWebp } from "./picture-formats.ts";
import { BrokenHead, RefusedPicture, unreadable } from "./picture-head.ts";
import type { PictureHead } from "./picture-head.ts";
import { readTiff } from "./tiff-head.ts";

/** A4 at 600 dpi has 35 million. */
export const MOST_PIXELS = 40_000_000;
/** Leptonica, which decodes the pictures, takes no longer side. */
export const LONGEST_SIDE = 32_767;

const isAt = (bytes: Buffer, at: number, magic: string): boolean =>
  bytes.subarray(at, at + magic.length).equals(Buffer.from(magic, "latin1"));

export const isPdf = (bytes: Buffer): boolean =>
  bytes.subarray(0, 1_024).includes(Buffer.from("%PDF-", "latin1"));

export const isTiff = (bytes: Buffer): boolean =>
  /^(?:II[*+]\0|MM\0[*+])/.test(bytes.toString("latin1", 0, 4));

type ReadHead = (bytes: Buffer, page: number) => Omit<PictureHead, "kind">;

const READERS: readonly (readonly [(bytes: Buffer) => boolean, ReadHead])[] = [
  [(bytes) => isAt(bytes, 0, "\x89PNG\r\n\x1a\n"), readPng],
  [(bytes) => isAt(bytes, 0, "\xff\xd8\xff"), readJpeg],
  [(bytes) => isAt(bytes, 0, "RIFF") && isAt(bytes, 8, "WEBP"), readWebp],
  [(bytes) => isAt(bytes, 0, "BM"), readBmp],
  [(bytes) => isAt(bytes, 0, "GIF8"), readGif],
  [isTiff, readTiff],
];

/**
 * Reads the head of a picture, and refuses one that is too large to decode.
 * @param page frame of a TIFF, from 1
 */
export function readPictureHead(bytes: Buffer, page: number): PictureHead | UnreadablePage {
  if (isAt(bytes, 4, "ftyp")) {
    return unreadable("is a HEIC or AVIF picture, which is not read: save it as JPEG or PNG.");
  }
  const read = READERS.find(([isOf]) => isOf(bytes))?.[1];
  if (read === undefined) {
    return unreadable(
      "is no PNG, JPEG, WebP, BMP, GIF, TIFF or PDF: save it as one of them, whatever its name ends with.",
    );
  }
  try {
    const head = read(bytes, page);
    return findExcess(head) ?? { kind: "picture", ...head };
  } catch (error) {
    if (error instanceof RefusedPicture) return unreadable(error.message);
    // A read beyond the end of the file is a RangeError of Buffer.
    if (error instanceof BrokenHead || error instanceof RangeError) {
      return unreadable("is cut short or broken: save it anew with the program that made it.");
    }
    throw error;
  }
}

function findExcess({ width, height }: Pick<PictureHead, "width" | "height">) {
  if (width < 1 || height < 1) throw new BrokenHead();
  if (width <= LONGEST_SIDE && height <= LONGEST_SIDE && width * height <= MOST_PIXELS) return;
  return unreadable(
    `has ${width} x ${height} pixels, and ${MOST_PIXELS / 1e6} megapixels, ${LONGEST_SIDE} a side, are the most that are read: ` +
      "make it smaller; 300 dpi are enough.",
  );
}
