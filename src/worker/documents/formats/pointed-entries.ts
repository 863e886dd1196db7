import type { Locator } from "../../../shared/job/locator.ts";
import { escapePointer } from "../../../shared/schema/json-value.ts";
import { cutSpan, shortenTitle } from "../cut-span.ts";
import type { CutSettings, Span } from "../cut-span.ts";
import type { Piece } from "./format.ts";

/** An array or object that is too long for one chunk and cut into its entries. */
export type Container = {
  /** JSON pointer (RFC 6901) of the whole, without the keys below the sixteenth; "" for the outermost. */
  readonly pointer: string;
  readonly depth: number;
};

/** Deeper keys would tell nothing more, and cost more for each chunk the deeper a file is nested. */
const MOST_KEYS = 16;
/** UTF-16 units of a key that a pointer holds, with its quotation marks. */
export const KEY_CHARS = 200;

export const OUTERMOST: Container = { pointer: "", depth: 1 };

/** What stands under a key, which is itself cut into its entries. */
export const containerIn = (outer: Container, key: string): Container => ({
  pointer: pointerIn(outer, key),
  depth: outer.depth + 1,
});

/** The JSON pointer of an entry by its key, or its number from 0. */
export function pointerIn({ pointer, depth }: Container, key: string): string {
  if (depth > MOST_KEYS) return pointer;
  return shortenTitle(`${pointer}/${escapePointer(key)}`);
}

/** A part of a text, with the comma and the brackets around it. Entries follow each other without a gap. */
export type PointedEntry = Span & {
  /** JSON pointer of what stands in it; null for a whole document. */
  readonly pointer: string | null;
  readonly container: Container | null;
};

/**
 * Packs entries of the same array or object into pieces of at most `maxChars`, whose heading path is the JSON pointer of it.
 * An entry that is longer, a long string, is cut.
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

/** None where a key or the whole of the pointer was cut: it would point nowhere. */
const locatorOf = (pointer: string | null): Locator | null =>
  pointer === null || pointer.endsWith("…") || pointer.split("/").some(isCutKey)
    ? null
    : { pointer };

/** As a scan leaves it, without the quotation marks. */
const isCutKey = (key: string): boolean => key.length >= KEY_CHARS - 2;
