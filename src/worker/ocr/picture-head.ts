import type { UnreadablePage } from "./page-outcome.ts";

/** What the head of a picture says, before anything is decoded. */
export type PictureHead = {
  readonly kind: "picture";
  readonly format: "png" | "jpeg" | "webp" | "bmp" | "gif" | "tiff";
  readonly width: number;
  readonly height: number;
  /** As EXIF counts: 1 stands upright. */
  readonly orientation: number;
  /** Frames that a file of several pages has. */
  readonly pages: number;
  /** The bytes that show the page alone. */
  readonly bytes: Buffer;
};

/** A head that ends early, or contradicts itself or the rest of the file. */
export class BrokenHead extends Error {}

/** A picture that is whole, and is not read: a clause that follows its path, and what to do. */
export class RefusedPicture extends Error {}

export const unreadable = (why: string): UnreadablePage => ({
  kind: "unreadable",
  why,
  lasts: "always",
});
