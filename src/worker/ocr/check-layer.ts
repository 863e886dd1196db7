import type { PageRecord } from "../../shared/pages/page-record.ts";
import { figuresOf } from "./two-readers.ts";

/** How the text of a page stands to the picture below it; `unchecked` where too little of that was read. */
export type LayerCheck = "same" | "different" | "unchecked";

/** Of the figures of a page. */
const MOST_DIFFERENT = 0.2;

/** Holds the figures of a text to those that were read of its picture, wherever on the page they stand. */
export function checkLayer(text: string, { lines }: PageRecord): LayerCheck {
  const read = figuresIn(lines.flatMap(({ words }) => words.map((word) => word.text)));
  const written = figuresIn(text.split(/[\s|]+/));
  // A figure of the one that stands nowhere in the other was lost by it, unless something else stands in its place.
  const lost = countBeyond(written, read);
  const different = Math.min(lost, countBeyond(read, written));
  const found = written.length - lost + different;
  if (found < written.length * FEWEST_FOUND) return "unchecked";
  return different > written.length * MOST_DIFFERENT ? "different" : "same";
}

/** Of the figures of a text: below it the reading says nothing of it. */
const FEWEST_FOUND = 0.5;

/** From the first digit to the last of a word: a unit or a sign may be a word of its own in one of both. */
const figuresIn = (words: readonly string[]): readonly string[] =>
  words.flatMap((word) => /\p{Nd}(?:.*\p{Nd})?/u.exec(word)?.[0] ?? []).map(figuresOf);

/** How many of the first the others don't hold. */
function countBeyond(figures: readonly string[], others: readonly string[]): number {
  const left = new Map<string, number>();
  for (const other of others) left.set(other, (left.get(other) ?? 0) + 1);
  return figures.filter((figure) => {
    const count = left.get(figure) ?? 0;
    left.set(figure, count - 1);
    return count <= 0;
  }).length;
}
