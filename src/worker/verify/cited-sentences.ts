import type { CitableBlock } from "../evidence/number.ts";
import type { TextSpan } from "../text/spans.ts";
import { cutBlocks } from "../text/units/cut-blocks.ts";
import { firstIndex } from "../text/first-index.ts";
import type { FoundCitation } from "./resolve-citations.ts";
import { append } from "../../shared/group-by.ts";

/** A sentence of an answer, with the numbers of the cited pieces, each once. */
type AnswerSentence = TextSpan & { readonly cited: readonly number[] };

/**
 * The sentences of an answer in order. A citation behind a stop belongs to the sentence before it. A file name without a
 * heading cites all pieces of the file.
 */
export function answerSentences(
  answer: string,
  citations: readonly FoundCitation[],
  evidence: readonly CitableBlock[],
): AnswerSentence[] {
  const numbersOf = citedPieces(evidence);
  let at = 0;
  return cutBlocks(answer)
    .flatMap(({ sentences }) => sentences)
    .map(({ start, end }) => {
      const cited = new Set<number>();
      for (let next = citations[at]; next !== undefined && next.start < end; next = citations[at]) {
        for (const number of numbersOf(next)) cited.add(number);
        at += 1;
      }
      return { start, end, cited: [...cited] };
    });
}

/** Makes a function that returns the pieces of a citation; a file that is cited without a heading has all of its pieces. */
export function citedPieces(
  evidence: readonly CitableBlock[],
): (found: FoundCitation) => readonly number[] {
  const ofPath = new Map<string, number[]>();
  for (const { path, number } of evidence) append(ofPath, path, number);
  return (found) => {
    if (found.kind !== "resolved") return [];
    const { number, path } = found.part.block;
    const isNumber = found.spelled === `[${number}]`;
    return isNumber || found.spelled.includes("#") ? [number] : (ofPath.get(path) ?? [number]);
  };
}

const NONE = { cited: [] } as const;

/** Makes a function that returns the numbers that sentences between two offsets cite. */
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

/** The index of the first sorted span that ends after an offset; the number of spans where none does. */
export const firstEndingAfter = (spans: readonly TextSpan[], offset: number): number =>
  firstIndex(spans, ({ end }) => end > offset);
