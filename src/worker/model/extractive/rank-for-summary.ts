import type { Candidate } from "./candidates.ts";
import { overlap } from "./overlap.ts";
import { sentenceWeight } from "./sentence-weight.ts";
import { subjectWeights } from "./subject-weights.ts";
import { contentStems } from "./words.ts";

/** A word that a sentence already taken holds still counts for this much. */
const SEEN_SHARE = 0.4;
/** Between 0.5, where long sentences win, and 1, where short ones do. */
const LENGTH_EXPONENT = 0.6;
/** What a sentence right beside one already taken loses; half as much lies half a share of the text away. */
const CLOSENESS_LOSS = 0.5;
const MOST_OVERLAP = 0.6;

type Scored = {
  readonly candidate: Candidate;
  readonly words: ReadonlySet<string>;
  readonly weight: number;
  /** Sentences between it and the nearest one that is taken. */
  readonly distance: number;
};

/**
 * The sentences that stand for a text, in its order: each adds most of the words that the text keeps coming back
 * to, counts more where it opens the text or a section, and less beside one already taken.
 *
 * Greedy coverage of weighted words, as in Filatova and Hatzivassiloglou, 2004.
 *
 * @param most number of sentences
 */
export function rankForSummary(
  candidates: readonly Candidate[],
  title: string,
  most: number,
): Candidate[] {
  const weights = subjectWeights(candidates);
  const share = candidates.length / most;
  let left = scoreAll(candidates, weights, title);
  const picked: Candidate[] = [];
  const seen = new Set<string>();
  while (picked.length < most) {
    const best = bestOf(left, (one) => gainOf(one, weights, seen) * apart(one, share));
    if (best === null) break;
    picked.push(best.candidate);
    for (const word of best.words) seen.add(word);
    left = left
      .filter(({ words }) => overlap(words, best.words) < MOST_OVERLAP)
      .map((one) => ({ ...one, distance: Math.min(one.distance, between(one, best)) }));
  }
  return picked.sort((a, b) => a.position - b.position);
}

function scoreAll(
  candidates: readonly Candidate[],
  weights: ReadonlyMap<string, number>,
  title: string,
): Scored[] {
  const titleStems = new Set(contentStems(title));
  return candidates.map((candidate, index) => ({
    candidate,
    words: new Set(candidate.stems.filter((word) => weights.has(word))),
    weight: sentenceWeight(candidate, candidates[index - 1], titleStems),
    distance: Number.POSITIVE_INFINITY,
  }));
}

/** @param share sentences of the text to one of the summary */
const apart = ({ distance }: Scored, share: number): number =>
  1 - CLOSENESS_LOSS * 0.5 ** (distance / (share / 2));

const between = (one: Scored, other: Scored): number =>
  Math.abs(one.candidate.position - other.candidate.position);

function gainOf(
  { words, weight }: Scored,
  weights: ReadonlyMap<string, number>,
  seen: ReadonlySet<string>,
): number {
  if (words.size === 0) return 0;
  let carried = 0;
  for (const word of words) carried += (weights.get(word) ?? 0) * (seen.has(word) ? SEEN_SHARE : 1);
  return (weight * carried) / words.size ** LENGTH_EXPONENT;
}

/** The first of the best ones; null when none gains anything. */
function bestOf(scored: readonly Scored[], score: (scored: Scored) => number): Scored | null {
  let best: Scored | null = null;
  let highest = 0;
  for (const one of scored) {
    const value = score(one);
    if (value > highest) [best, highest] = [one, value];
  }
  return best;
}
