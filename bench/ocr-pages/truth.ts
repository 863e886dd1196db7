import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { PixelBox, Turn } from "../../src/shared/pages/page-record.ts";
import type { Ask } from "./layouts.ts";

export type Figure = {
  readonly text: string;
  readonly box: PixelBox;
  /** One figure with the word before it, as parts of an IBAN. */
  readonly glued?: true;
};

/** What a page holds; a line of pages.jsonl. */
export type PageTruth = {
  readonly id: string;
  readonly kind: string;
  readonly language: string;
  readonly file: string;
  /** From 1, of the file. */
  readonly page: number;
  /** How it was made, such as `200 dpi, skew 0.8, jpeg`. */
  readonly made: string;
  /** Pixels of the picture that stands upright: boxes are in these. */
  readonly width: number;
  readonly height: number;
  /** Clockwise turn after which the picture of the file stands upright. */
  readonly turn: Turn;
  readonly figures: readonly Figure[];
  /** In the order in which a person reads it. */
  readonly text: string;
  readonly ask?: Ask;
};

export const readPages = (folder: string): PageTruth[] =>
  readFileSync(join(folder, "pages.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as PageTruth);
