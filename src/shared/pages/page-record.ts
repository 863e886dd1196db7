/** Left, top, right and bottom in pixels of the picture as it was read, from its upper left corner. */
export type PixelBox = readonly [left: number, top: number, right: number, bottom: number];

/**
 * How sure a figure is: both models read it, one of two did or only one was asked, or neither was sure. A word without a
 * digit has none, unless the second model read a figure in its place.
 */
export type FigureReading = "two" | "one" | "doubtful";

export type ReadWord = {
  readonly text: string;
  readonly box: PixelBox;
  /** Of the engine, 0 to 100. */
  readonly confidence: number;
  readonly figure?: FigureReading;
  /** What the second model read in its place, where that differs. */
  readonly other?: string;
  /** Around all words that the second model read as `other`, where they are several. */
  readonly place?: PixelBox;
  /** The model of a host that was shown its picture and read the same as one of both; it counts as read by two then. */
  readonly confirmed?: string;
  /** What the first model read where a person chose `text`, in place of all words of that place. */
  readonly read?: string;
};

/** Words from left to right. */
export type ReadLine = {
  readonly words: readonly ReadWord[];
  /** Of a row of a table: places of the words that begin a cell, but for the first. */
  readonly cells?: readonly number[];
  /** White stands above it, as above a paragraph. */
  readonly opens?: true;
};

export type Turn = 0 | 90 | 180 | 270;

/** What was read of the picture of one page, as it is stored. */
export type PageRecord = {
  readonly picture: {
    /** `png`, `jpeg`, …; `pdf` of a page that was drawn. */
    readonly format: string;
    /** Pixels, after it was turned. */
    readonly width: number;
    readonly height: number;
    /** Of a drawn page. */
    readonly dpi?: number;
  };
  /** Clockwise, before it was read: what stood upright needed none. */
  readonly turned: Turn;
  /** Degrees by which lines lean. */
  readonly skew: number;
  /** Engine and version, each model with the first 8 hex digits of its SHA-256. */
  readonly engine: string;
  readonly languages: readonly string[];
  /** Page segmentation of Tesseract: 3 or 6. */
  readonly mode: number;
  /** Read once more without its rules, as too much was left out with them. */
  readonly rules?: "removed";
  /** Share of the shapes of letters that lie in no word's box. */
  readonly leftInk: number;
  /** Mean of its words, 0 to 100. */
  readonly confidence: number;
  /** In the order in which a person reads them. */
  readonly lines: readonly ReadLine[];
};
