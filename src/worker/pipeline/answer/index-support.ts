import type { CitableBlock } from "../number-evidence.ts";
import { sentenceSpans } from "../text/split-spans.ts";
import type { TextSpan } from "../text/split-spans.ts";
import { termReader } from "./support-terms.ts";
import type { TermReader } from "./support-terms.ts";

/** A sentence of a piece. */
export type EvidenceSentence = TextSpan & {
  readonly block: CitableBlock;
  readonly terms: readonly number[];
  /** Terms of the headings, the title and the path that it stands under, which it need not repeat. */
  readonly context: ReadonlySet<number>;
};

export type SupportIndex = {
  readonly sentences: readonly EvidenceSentence[];
  /** By term, the sentences that hold it, in order. */
  readonly holders: readonly (readonly number[] | undefined)[];
  readonly termsOf: TermReader;
  /** A place to add up in, one for each sentence; all zero between two uses. */
  readonly sums: Float64Array;
};

/** A heading says what it is about in its first words. */
const MOST_HEADING_TERMS = 24;
const HEADING = /^\s*(#{1,6})[ \t]+/;

/** Cuts all pieces into sentences, once, and notes which hold which term. */
export function indexSupport(evidence: readonly CitableBlock[]): SupportIndex {
  const termsOf = termReader();
  const sentences = evidence.flatMap((block) => sentencesOf(block, termsOf));
  const holders: number[][] = [];
  sentences.forEach(({ terms }, index) => {
    for (const term of terms) {
      const held = holders[term];
      if (held === undefined) holders[term] = [index];
      else held.push(index);
    }
  });
  return { sentences, holders, termsOf, sums: new Float64Array(sentences.length) };
}

function sentencesOf(block: CitableBlock, termsOf: TermReader): EvidenceSentence[] {
  const { path, title, headingPath, text } = block;
  const labels = [path, title ?? "", headingPath ?? ""].flatMap((label) =>
    termsOf(label).slice(0, MOST_HEADING_TERMS),
  );
  const headings: { readonly level: number; readonly terms: readonly number[] }[] = [];
  let context: ReadonlySet<number> = new Set(labels);
  return sentenceSpans(text).map((span) => {
    const sentence = text.slice(span.start, span.end);
    const terms = termsOf(sentence);
    const level = HEADING.exec(sentence)?.[1]?.length;
    if (level !== undefined) {
      while ((headings.at(-1)?.level ?? 0) >= level) headings.pop();
      headings.push({ level, terms: terms.slice(0, MOST_HEADING_TERMS) });
      context = new Set([...labels, ...headings.flatMap((heading) => heading.terms)]);
    }
    return { start: span.start, end: span.end, block, terms, context };
  });
}
