import type { TextSpan } from "../text/split-spans.ts";

const LONGEST = 1_000;
const OPENS =
  /(?<![\p{L}\p{M}\p{N}'’])['‘](?=[\p{L}\p{N}])(?!\d0s|(?:tis|twas|til|till|em|cause|bout|n)\b)/iu;
const CLOSES = /(?<=[^\s'‘])['’](?![\p{L}\p{N}])/u;
const MARK = new RegExp(
  `(?<opens>${OPENS.source})|(?<closes>${CLOSES.source})|\\n[ \\t>]*\\n`,
  "giu",
);

/**
 * The spans in single quote marks, which are apostrophes too: opened before a word, closed after one, in one paragraph
 * and of at most thousand characters. What stands in other quote marks is left alone.
 */
export function findSingleQuotes(text: string, marked: readonly TextSpan[]): TextSpan[] {
  const quotes: TextSpan[] = [];
  let start: number | null = null;
  let at = 0;
  for (const { index, groups } of text.matchAll(MARK)) {
    while ((marked[at]?.end ?? Number.POSITIVE_INFINITY) < index) at += 1;
    if (index >= (marked[at]?.start ?? Number.POSITIVE_INFINITY)) continue;
    const isFar: boolean = start !== null && index - start > LONGEST;
    if (start !== null && !isFar && groups?.["closes"] !== undefined) {
      quotes.push({ start, end: index });
      start = null;
    } else if (groups?.["opens"] !== undefined) start = isFar ? index + 1 : (start ?? index + 1);
    else if (groups?.["closes"] === undefined) start = null;
  }
  return quotes;
}
