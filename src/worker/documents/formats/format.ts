import type { Locator } from "../../../shared/job/locator.ts";
import type { CutSettings, Span } from "../cut-span.ts";
import type { Extractor } from "../extraction.ts";
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
