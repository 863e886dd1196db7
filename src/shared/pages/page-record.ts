/** Left, top, right and bottom in pixels of the picture as OCR read it, from its upper left corner. */
export type PixelBox = readonly [left: number, top: number, right: number, bottom: number];

/**
 * The certainty of a figure: both models read it; one of two did, or only one was used; or neither was certain. A word without a
 * digit has none, unless the second model read a figure in its place.
 */
export type FigureReading = "two" | "one" | "doubtful";

export type ReadWord = {
  readonly text: string;
  readonly box: PixelBox;
  /** The engine's confidence, 0 to 100. */
  readonly confidence: number;
  readonly figure?: FigureReading;
  /** The reading of the second model, if it differs. */
  readonly other?: string;
  /** The box around all words that the second model read as `other`, if they are several. */
  readonly place?: PixelBox;
  /** The vision model that read the same as one of the two from the cropped picture; the figure then counts as read by both. */
  readonly confirmed?: string;
  /** The reading of the first model, if a person chose `text` in place of all words there. */
  readonly read?: string;
};

/** Words from left to right. */
export type ReadLine = {
  readonly words: readonly ReadWord[];
  /** For a row of a table: indices of the words that begin a cell, without the first cell. */
  readonly cells?: readonly number[];
  /** There is white space above it, as above a paragraph. */
  readonly opens?: true;
};

export type Turn = 0 | 90 | 180 | 270;

/** The stored OCR result of one page. */
export type PageRecord = {
  readonly picture: {
    /** `png`, `jpeg`, …; `pdf` for a drawn page. */
    readonly format: string;
    /** Pixels, after turning. */
    readonly width: number;
    readonly height: number;
    /** For a drawn page. */
    readonly dpi?: number;
  };
  /** Clockwise degrees by which the picture was turned before OCR; 0 for upright text. */
  readonly turned: Turn;
  /** Degrees by which lines are skewed. */
  readonly skew: number;
  /** The engine and its version, and each model with the first 8 hex digits of its SHA-256. */
  readonly engine: string;
  readonly languages: readonly string[];
  /** Page segmentation of Tesseract: 3 or 6. */
  readonly mode: number;
  /** Read again with ruling lines removed, because they hid too much text. */
  readonly rules?: "removed";
  /** The share of letter shapes outside of all word boxes. */
  readonly leftInk: number;
  /** The mean confidence of its words, 0 to 100. */
  readonly confidence: number;
  /** In reading order. */
  readonly lines: readonly ReadLine[];
};
