import { bestWindow, weightsOf } from "./measure-support.ts";
import type { Claim } from "./measure-support.ts";
import type { SupportIndex } from "./index-support.ts";

/** A sentence with the numbers of the pieces that it cites. */
export type CitedClaim = Claim & { readonly cited: readonly number[] };

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
export function findMisplaced(claims: readonly CitedClaim[], index: SupportIndex): CitedClaim[] {
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
