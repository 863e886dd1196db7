import type { RefusalCode } from "../../../shared/failure.ts";
import type { Locator } from "../../../shared/locator.ts";
import type { CutSettings, Span } from "../cut-span.ts";
import type { Frontmatter } from "../frontmatter.ts";
import type { Block, Lines } from "../lines.ts";

/** A format of documents: how its files become text, how the texts are told, and where they may be cut. */
export type Format = {
  readonly name: string;
  /** Endings of the names of its files, in lower case and with the dot. */
  readonly extensions: readonly string[];
  /** Makes the text of a file with one of these endings. */
  readonly extractor: Extractor;
  /** Whether the text of a file with one of these endings is of the format; where it is not, it is plain text. */
  isOf(text: string, extension: string): boolean;
  /** What the file says about itself. Never throws. */
  parseFrontmatter(text: string): Frontmatter;
  /** Where a text may be cut, from a line on that counts from 0. Takes any text, and time in proportion to it. */
  cut(lines: Lines, firstLine: number, settings: CutSettings): Cut;
};

/** Blocks, which are packed into sections below their headings; or pieces that are chunks already, in order. */
export type Cut =
  | { readonly kind: "blocks"; readonly blocks: readonly Block[] }
  | { readonly kind: "pieces"; readonly pieces: readonly Piece[] };

export type Piece = Span & {
  readonly headingPath: string | null;
  /** Where the format knows it better than the places of its text. */
  readonly locator?: Locator | null;
};

export type Extractor = {
  /** Name and version. Raised when the same bytes would become another text: what rests on the old one is stale. */
  readonly version: string;
  /** Takes any bytes, however hostile; throws for a fault of the machinery alone. */
  extract(bytes: Buffer): Promise<Extraction>;
};

/** The text of a file and where its parts stand in the file, or why it has none. */
export type Extraction =
  | { readonly kind: "text"; readonly text: string; readonly places: readonly PlaceOfText[] }
  | {
      readonly kind: "unreadable";
      readonly code: RefusalCode;
      /** A clause that follows the path of the file, and what to do. */
      readonly why: string;
    };

/** Where the text from `start` on, in UTF-16 units, stands in its file: up to the next place. */
export type PlaceOfText = { readonly start: number; readonly locator: Locator };

/** The locator of an offset of a text. @param places in order of `start` */
export const locate = (places: readonly PlaceOfText[], offset: number): Locator | null =>
  places.findLast(({ start }) => start <= offset)?.locator ?? null;

/** The text of a file, and the version of the extractor that made it. */
export type ExtractText = (
  path: string,
  bytes: Buffer,
) => Promise<Extraction & { readonly extractor: string }>;
