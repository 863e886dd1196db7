import { citedNumbers } from "../text/cited-numbers.ts";
import type { TextSpan } from "../text/split-spans.ts";

/** A citation by number where it stands in a text: one bracket may hold several. */
export type NumberCitation = TextSpan & { readonly numbers: readonly number[] };

/** `[…]` and the same in 【】 and full width, also `\[…\]`; no link. Bounded, so that no text makes it slow. */
const BRACKETS = /\\?[[【［]([^[\]【】［］]{1,400})[\]】］](?!\()/g;

/** The citations by number of a text, in order. Give it the text with code blanked. */
export const findCitations = (text: string): NumberCitation[] =>
  [...text.matchAll(BRACKETS)]
    .map(({ 0: whole, 1: inside = "", index }) => ({
      start: index,
      end: index + whole.length,
      numbers: citedNumbers(inside),
    }))
    .filter(({ numbers }) => numbers.length > 0);
