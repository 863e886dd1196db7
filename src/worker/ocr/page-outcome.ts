import type { PageRecord, PixelBox } from "../../shared/pages/page-record.ts";

/** A page whose picture can't be read; `why` is a clause that follows its path and page, with the remedy. */
export type UnreadablePage = {
  readonly kind: "unreadable";
  readonly why: string;
  /** How long the failure lasts: `always` is not tried again, `perhaps` a few times, `never` (a fault of the machine) at each run. */
  readonly lasts: "always" | "perhaps" | "never";
};

export type PageOutcome = ReadPageOutcome | UnreadablePage;

export type ReadPageOutcome = {
  readonly kind: "read";
  readonly record: PageRecord;
  /** Pictures of the doubtful figures; empty if the request did not want them. */
  readonly cutOuts: readonly CutOut[];
};

/** The part of a page's picture around a figure. */
export type CutOut = {
  /** The box of the figure, as `doubtfulFigures` gives it. */
  readonly box: PixelBox;
  /** PNG, as base64. */
  readonly png: string;
};

export type PageRequest = {
  readonly bytes: Buffer;
  /** Page of a PDF or frame of a TIFF, from 1. */
  readonly page: number;
  /** Tesseract's names, such as `eng`. */
  readonly languages: readonly string[];
  /** Whether a second model reads the figures too; `text` judges no figure, because the page has a text layer to compare with. */
  readonly second: "fast" | "none" | "text";
  /** Which figures to return pictures of; none if absent. */
  readonly cutOuts?: "doubtful";
};

/** Reads one page in a separate process. It throws only for a fault of the machinery. */
export type ReadPage = (request: PageRequest) => Promise<PageOutcome>;
