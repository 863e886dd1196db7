import type { Locator } from "../../../shared/job/locator.ts";
import { escapePointer } from "../../../shared/schema/json-value.ts";
import { cutSpan, shortenTitle } from "../cut-span.ts";
import type { CutSettings, Span } from "../cut-span.ts";
import type { Piece } from "./format.ts";

/** An array or object that is too long for one chunk, so that it is cut into its entries. */
export type Container = {
  /** JSON pointer (RFC 6901) of the container, with sixteen keys at most; "" for the outermost. */
  readonly pointer: string;
  readonly depth: number;
};

/** Bounds pointers: deeper keys say little more, and every chunk below would carry them. */
const MOST_KEYS = 16;
/** Most UTF-16 units of a key in a pointer, with its quotation marks. */
export const KEY_CHARS = 200;

export const OUTERMOST: Container = { pointer: "", depth: 1 };

/** The container under a key of another one. */
export const containerIn = (outer: Container, key: string): Container => ({
  pointer: pointerIn(outer, key),
  depth: outer.depth + 1,
});

/** The JSON pointer of an entry by its key, or its number from 0. */
export function pointerIn({ pointer, depth }: Container, key: string): string {
  if (depth > MOST_KEYS) return pointer;
  return shortenTitle(`${pointer}/${escapePointer(key)}`);
}

/** A part of a text with the comma and brackets around it. Entries follow each other without a gap. */
export type PointedEntry = Span & {
  /** JSON pointer of its value; null for a whole document. */
  readonly pointer: string | null;
  readonly container: Container | null;
};

/**
 * Packs entries of the same array or object into pieces of at most `maxChars`. The heading path of a piece is the JSON
 * pointer of the container. An entry that is longer, such as a long string, is cut.
 */
export function packEntries(
  text: string,
  entries: readonly PointedEntry[],
  settings: CutSettings,
): Piece[] {
  const packed: PointedEntry[] = [];
  for (const entry of entries) {
    const last = packed.at(-1);
    const fits = last !== undefined && entry.end - last.start <= settings.maxChars;
    if (fits && last.container === entry.container) {
      const pointer = last.container?.pointer ?? "";
      packed[packed.length - 1] = {
        ...last,
        end: entry.end,
        pointer: pointer === "" ? null : pointer,
      };
    } else packed.push(entry);
  }
  return packed.flatMap(({ start, end, pointer }) =>
    cutSpan(text, { start, end }, "sentences", settings).map((span) => ({
      ...span,
      headingPath: pointer,
      locator: locatorOf(pointer),
    })),
  );
}

/** The locator of a pointer; null if a key or the pointer was cut, because it would point nowhere. */
const locatorOf = (pointer: string | null): Locator | null =>
  pointer === null || pointer.endsWith("…") || pointer.split("/").some(isCutKey)
    ? null
    : { pointer };

/** Whether a key has the full length, so that it may have been cut. */
const isCutKey = (key: string): boolean => key.length >= KEY_CHARS - 2;
