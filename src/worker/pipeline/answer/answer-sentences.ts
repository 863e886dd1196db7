import type { FoundCitation } from "./resolve-citations.ts";
import { sentenceSpans } from "../text/split-spans.ts";
import type { TextSpan } from "../text/split-spans.ts";

/** A sentence of an answer, with the numbers of the pieces that it cites, each once. */
export type AnswerSentence = TextSpan & { readonly cited: readonly number[] };

/** The sentences of an answer in order; a citation after the stop is of the sentence before it. */
export function answerSentences(
  answer: string,
  citations: readonly FoundCitation[],
): AnswerSentence[] {
  let at = 0;
  return sentenceSpans(answer).map(({ start, end }) => {
    const cited = new Set<number>();
    for (let next = citations[at]; next !== undefined && next.start < end; next = citations[at]) {
      if (next.kind === "resolved") cited.add(next.part.block.number);
      at += 1;
    }
    return { start, end, cited: [...cited] };
  });
}

const NONE = { cited: [] } as const;

/** Gives the numbers that the sentences between two offsets cite. */
export function citedWith(
  sentences: readonly AnswerSentence[],
): (start: number, end: number) => readonly number[] {
  return (start, end) => {
    const first = firstEndingAfter(sentences, start);
    let last = first;
    while ((sentences[last + 1]?.start ?? end) < end) last += 1;
    const [only = NONE, ...others] = sentences
      .slice(first, last + 1)
      .filter((sentence) => sentence.start < end);
    if (others.length === 0) return only.cited;
    return [...new Set([only, ...others].flatMap(({ cited }) => cited))];
  };
}

/** The first of ordered spans that ends after an offset; their count where none does. */
export function firstEndingAfter(spans: readonly TextSpan[], offset: number): number {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.end ?? 0) > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}
