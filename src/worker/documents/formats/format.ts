import type { Locator } from "../../../shared/job/locator.ts";
import type { CutSettings, Span } from "../cut-span.ts";
import type { Extractor } from "../extraction.ts";
import type { Frontmatter } from "../frontmatter.ts";
import type { Block, Lines } from "../lines.ts";

/** A format of documents: how its files become text, how its texts are recognised, and where they may be cut. */
export type Format = {
  readonly name: string;
  /** Endings of the names of its files, in lower case and with the dot. */
  readonly extensions: readonly string[];
  /** Extracts the text of a file with one of these endings. */
  readonly extractor: Extractor;
  /** Whether a text with one of these endings is of the format; if not, it is cut as plain text. */
  isOf(text: string, extension: string): boolean;
  /** Reads the frontmatter of a text. Never throws. */
  parseFrontmatter(text: string): Frontmatter;
  /** Where a text may be cut, from `firstLine` on (counted from 0). Takes any text, in linear time. */
  cut(lines: Lines, firstLine: number, settings: CutSettings): Cut;
};

/** Blocks, which the caller packs into chunks below their headings; or finished pieces, in order. */
export type Cut =
  | { readonly kind: "blocks"; readonly blocks: readonly Block[] }
  | { readonly kind: "pieces"; readonly pieces: readonly Piece[] };

export type Piece = Span & {
  readonly headingPath: string | null;
  /** Set if the format knows a better locator than the places of the text. */
  readonly locator?: Locator | null;
};
