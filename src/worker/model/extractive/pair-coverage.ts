import type { Candidate } from "./candidates.ts";
import type { Question } from "./read-question.ts";

/**
 * Share of the question that a sentence covers when each pair of the question's words that stands in it as a pair
 * counts for a word more.
 *
 * @param coverage without the pairs, from 0 to 1
 * @param pairWeight what a pair counts, in words
 */
export function withPairs(
  coverage: number,
  { shownStems }: Candidate,
  { terms, pairs }: Question,
  pairWeight: number,
): number {
  const held = pairs.filter(([first, second]) =>
    shownStems.some((stem, index) => stem === first && shownStems[index + 1] === second),
  ).length;
  if (held === 0) return coverage;
  const total = [...terms.values()].reduce((sum, weight) => sum + weight, 0);
  return (coverage * total + pairWeight * held) / (total + pairWeight * held);
}
