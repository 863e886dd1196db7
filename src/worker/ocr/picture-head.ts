import type { UnreadablePage } from "./page-outcome.ts";

/** The data in the head of a picture, read before anything is decoded. */
export type PictureHead = {
  readonly kind: "picture";
  readonly format: "png" | "jpeg" | "webp" | "bmp" | "gif" | "tiff";
  readonly width: number;
  readonly height: number;
  /** The EXIF orientation: 1 is upright. */
  readonly orientation: number;
  /** Number of frames of a file with several pages. */
  readonly pages: number;
  /** A file that shows only this page. */
  readonly bytes: Buffer;
};

/** A head that ends early, or contradicts itself or the rest of the file. */
export class BrokenHead extends Error {}

/** A whole picture of an unsupported kind; the message is a clause that follows its path, with the remedy. */
export class RefusedPicture extends Error {}

export const unreadable = (why: string): UnreadablePage => ({
  kind: "unreadable",
  why,
  lasts: "always",
});
