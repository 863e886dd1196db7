import type { CitableBlock } from "../evidence/number.ts";
import { sentenceSpans } from "../text/spans.ts";
import type { TextSpan } from "../text/spans.ts";
import type { FoundCitation } from "./resolve-citations.ts";
import { bestWindow, weightsOf } from "./support.ts";
import type { Claim, SupportIndex } from "./support.ts";

/** A sentence with the numbers of the pieces that it cites. */
type CitedClaim = Claim & { readonly cited: readonly number[] };

/** A sentence says too little to be told apart by fewer terms. */
const FEWEST_TERMS = 3;
/** Who cites more pieces at once says of what they have in common. */
const MOST_CITED = 20;
const MOST_CLAIMS = 1_000;
/** A piece that is not cited holds at least so much of the sentence, and the cited ones together less than that. */
const HELD_ELSEWHERE = 0.6;
const HELD_WHERE_CITED = 0.4;
/** Where another piece holds so much only in several places, the cited ones hold less than this. */
const HELD_BY_CHANCE = 0.25;
const MOST_PIECES = 50;

/**
 * The sentences that cite the wrong piece: one or two sentences of another one hold most of it, and all of the cited ones
 * together hold little, by the weights of `measureSupport`. Sentences that no piece holds are none of them.
 */
export function findMisplaced<T extends CitedClaim>(
  claims: readonly T[],
  index: SupportIndex,
): T[] {
  let byPiece: ReadonlyMap<number, ReadonlySet<number>> | null = null;
  return claims.slice(0, MOST_CLAIMS).filter(({ words, cited }) => {
    if (cited.length === 0 || cited.length > MOST_CITED) return false;
    const weights = weightsOf(words, index);
    if (weights.size < FEWEST_TERMS) return false;
    const pieces = (byPiece ??= termsByPiece(index));
    const whereCited = shareOf(weights, (term) =>
      cited.some((number) => pieces.get(number)?.has(term) === true),
    );
    if (whereCited >= HELD_WHERE_CITED) return false;
    const best = bestWindow(weights, index);
    const piece = index.sentences[best?.first ?? 0]?.block.number ?? 0;
    if (best !== null && best.score >= HELD_ELSEWHERE) return !cited.includes(piece);
    return whereCited < HELD_BY_CHANCE && isInAnother(weights, cited, pieces);
  });
}

/** Whether a piece holds it in several places, such as the rows of a table. */
function isInAnother(
  weights: ReadonlyMap<number, number>,
  cited: readonly number[],
  pieces: ReadonlyMap<number, ReadonlySet<number>>,
): boolean {
  if (pieces.size > MOST_PIECES) return false;
  return [...pieces].some(
    ([number, terms]) =>
      !cited.includes(number) && shareOf(weights, (term) => terms.has(term)) >= HELD_ELSEWHERE,
  );
}

function shareOf(weights: ReadonlyMap<number, number>, isHeld: (term: number) => boolean): number {
  let [held, total] = [0, 0];
  for (const [term, weight] of weights) {
    total += weight;
    if (isHeld(term)) held += weight;
  }
  return held / total;
}

function termsByPiece({ sentences }: SupportIndex): ReadonlyMap<number, ReadonlySet<number>> {
  const pieces = new Map<number, Set<number>>();
  for (const { block, terms, context } of sentences) {
    const held = pieces.get(block.number) ?? new Set<number>(context);
    for (const term of terms) held.add(term);
    pieces.set(block.number, held);
  }
  return pieces;
}

/** A sentence of an answer, with the numbers of the pieces that it cites, each once. */
type AnswerSentence = TextSpan & { readonly cited: readonly number[] };

/**
 * The sentences of an answer in order; a citation after the stop is of the sentence before it. The name of a file without
 * a heading cites all of its pieces.
 */
export function answerSentences(
  answer: string,
  citations: readonly FoundCitation[],
  evidence: readonly CitableBlock[],
): AnswerSentence[] {
  const numbersOf = citedPieces(evidence);
  let at = 0;
  return sentenceSpans(answer).map(({ start, end }) => {
    const cited = new Set<number>();
    for (let next = citations[at]; next !== undefined && next.start < end; next = citations[at]) {
      for (const number of numbersOf(next)) cited.add(number);
      at += 1;
    }
    return { start, end, cited: [...cited] };
  });
}

/** The numbers that a citation stands for: of a file that is named without a heading, those of all of its pieces. */
export function citedPieces(
  evidence: readonly CitableBlock[],
): (found: FoundCitation) => readonly number[] {
  const ofPath = new Map<string, number[]>();
  for (const { path, number } of evidence) {
    const numbers = ofPath.get(path);
    if (numbers === undefined) ofPath.set(path, [number]);
    else numbers.push(number);
  }
  return (found) => {
    if (found.kind !== "resolved") return [];
    const { number, path } = found.part.block;
    const isNumber = found.spelled === `[${number}]`;
    return isNumber || found.spelled.includes("#") ? [number] : (ofPath.get(path) ?? [number]);
  };
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
