import type { PageRecord, PixelBox } from "../../shared/pages/page-record.ts";

/** Of a page whose picture can't be read: a clause that follows its path and page, and what to do. */
export type UnreadablePage = {
  readonly kind: "unreadable";
  readonly why: string;
  /** `never` of what is due to the machine. */
  readonly lasts: "always" | "perhaps" | "never";
};

export type PageOutcome = ReadPageOutcome | UnreadablePage;

export type ReadPageOutcome = {
  readonly kind: "read";
  readonly record: PageRecord;
  /** Of its doubtful figures, where they were asked for. */
  readonly cutOuts: readonly CutOut[];
};

/** The part of a page's picture around a figure. */
export type CutOut = {
  /** Of the figure, as `doubtfulFigures` names it. */
  readonly box: PixelBox;
  /** PNG, as base64. */
  readonly png: string;
};

export type PageRequest = {
  readonly bytes: Buffer;
  /** From 1: page of a PDF, frame of a TIFF. */
  readonly page: number;
  /** Tesseract's names, such as `eng`. */
  readonly languages: readonly string[];
  /** Whether figures are read by a second model; `text` judges none, for a page that has a text to be held to. */
  readonly second: "fast" | "none" | "text";
  /** Of which figures pictures are wanted; of none without it. */
  readonly cutOuts?: "doubtful";
};

/** Reads one page in a process of its own. Throws for a fault of the machinery alone. */
export type ReadPage = (request: PageRequest) => Promise<PageOutcome>;
