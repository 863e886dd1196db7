import { citedRanges, inSquareBrackets, numbersOf } from "../text/cited-numbers.ts";
import { findEndNotes } from "../text/end-notes.ts";
import { FILLER, foldLookAlikes } from "../text/look-alikes.ts";
import type { TextSpan } from "../text/split-spans.ts";

/** A citation by number where it stands in a text: one bracket may hold several. */
export type NumberCitation = TextSpan & {
  readonly numbers: readonly number[];
  /** The file that it is a link to: `[1](notes/a.md)`. */
  readonly target?: string;
};

/** A relative link to a file, with a heading or without. */
const FILE_LINK =
  /\(\s{0,4}(?:\.\/)?([^\s()#:/][^\s()#:]{0,400}\.[\p{L}\p{N}]{1,8})(?:#[^\s()]{0,200})?\s{0,4}\)/uy;

/** No honest answer cites so often; beyond it a range counts by its first and its last number. */
const MOST_NUMBERS = 50_000;

/**
 * The citations by number of a text, in order: `[…]` and the same in 【】 and full width, also `\[…\]`, and as a link to a
 * file, but to nothing else.
 * Where there is none, `(1)` and `①` at the ends of sentences. Linear, whatever the text. Give it the text with code
 * blanked.
 *
 * @param pieces how many there are, numbered from 1; 0 where nobody knows, and years and times are then no citations
 */
export function findCitations(text: string, pieces: number): NumberCitation[] {
  const folded = foldLookAlikes(text);
  const bracketed = inSquareBrackets(folded).flatMap(({ start, end, inside }) => {
    const ranges = citedRanges(inside.replaceAll(FILLER, ""), pieces);
    if (ranges.length === 0) return [];
    const from = text.charAt(start - 1) === "\\" ? start - 1 : start;
    if (!text.startsWith("(", end)) return [{ start: from, end, ranges }];
    FILE_LINK.lastIndex = end;
    const [link, target] = FILE_LINK.exec(text) ?? [];
    return link === undefined ? [] : [{ start: from, end: end + link.length, ranges, target }];
  });
  const cited = bracketed.length > 0 ? bracketed : findEndNotes(text, folded, pieces);
  let given = 0;
  return cited.map(({ ranges, ...span }) => {
    const numbers = numbersOf(ranges, pieces, MOST_NUMBERS - given);
    given += numbers.length;
    return { ...span, numbers };
  });
}
