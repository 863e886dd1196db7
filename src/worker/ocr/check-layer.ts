import type { PageRecord } from "../../shared/pages/page-record.ts";
import { figuresOf } from "./two-readers.ts";

/** Whether the text layer of a page agrees with the picture below it; `unchecked` if OCR read too little of the picture. */
export type LayerCheck = "same" | "different" | "unchecked";

/** The largest share of differing figures on a page that counts as the same. */
const MOST_DIFFERENT = 0.2;

/** Compares the figures of a text layer with those that OCR read, regardless of their place on the page. */
export function checkLayer(text: string, { lines }: PageRecord): LayerCheck {
  const read = figuresIn(lines.flatMap(({ words }) => words.map((word) => word.text)));
  const written = figuresIn(text.split(/[\s|]+/));
  // A figure of the text that OCR lacks was only missed by OCR, unless OCR has an extra figure that may stand in its place.
  const lost = countBeyond(written, read);
  const different = Math.min(lost, countBeyond(read, written));
  const found = written.length - lost + different;
  if (found < written.length * FEWEST_FOUND) return "unchecked";
  return different > written.length * MOST_DIFFERENT ? "different" : "same";
}

/** The smallest share of the text's figures that OCR must have read to check the text. */
const FEWEST_FOUND = 0.5;

/** Takes each word from its first digit to its last, because only one of the two may split off a unit or a sign. */
const figuresIn = (words: readonly string[]): readonly string[] =>
  words.flatMap((word) => /\p{Nd}(?:.*\p{Nd})?/u.exec(word)?.[0] ?? []).map(figuresOf);

/** Counts the `figures` that have no equal in `others`. */
function countBeyond(figures: readonly string[], others: readonly string[]): number {
  const left = new Map<string, number>();
  for (const other of others) left.set(other, (left.get(other) ?? 0) + 1);
  return figures.filter((figure) => {
    const count = left.get(figure) ?? 0;
    left.set(figure, count - 1);
    return count <= 0;
  }).length;
}
