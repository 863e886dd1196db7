import { FILLER, foldLookAlikes } from "./look-alikes.ts";

/** A text as marks of the protocol are looked for in it, and where each of its characters stands in the text. */
export type PlainForm = { readonly text: string; positionOf(index: number): number };

/** What is left out, and the entities and escapes of angle brackets. Bounded for the stack of the matcher. */
const CHANGED = new RegExp(
  `(?<less>&(?:amp;){0,2}(?:lt|#0{0,4}60|#x0{0,4}3c);|\\\\u003c)|(?<greater>&(?:amp;){0,2}(?:gt|#0{0,4}62|#x0{0,4}3e);|\\\\u003e)|[*_\`~\\\\${FILLER}]{1,1000}`,
  "giu",
);

/**
 * The text with look-alikes folded, without what shows nothing and without emphasis, marks of code and escapes, so that
 * none of them parts a word. Linear.
 */
export function plainForm(text: string): PlainForm {
  const folded = foldLookAlikes(text);
  const pieces: string[] = [];
  /** Where a stretch begins in the plain text and in the text, one after the other. */
  const starts: number[] = [0];
  const origins: number[] = [0];
  let length = 0;
  let from = 0;
  const add = (piece: string, origin: number): void => {
    starts.push(length);
    origins.push(origin);
    pieces.push(piece);
    length += piece.length;
  };
  for (const { 0: changed, index, groups } of folded.matchAll(CHANGED)) {
    add(folded.slice(from, index), from);
    if (groups?.["less"] !== undefined) add("<", index);
    if (groups?.["greater"] !== undefined) add(">", index);
    from = index + changed.length;
  }
  add(folded.slice(from), from);
  const positionOf = (index: number): number => {
    const at = lastNotAbove(starts, index);
    return (origins[at] ?? 0) + index - (starts[at] ?? 0);
  };
  return { text: pieces.join(""), positionOf };
}

/** The index of the last of ascending numbers that is not above a limit. */
function lastNotAbove(numbers: readonly number[], limit: number): number {
  let low = 0;
  let high = numbers.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}
