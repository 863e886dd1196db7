import type { Candidate } from "./candidates.ts";
import { overlap } from "./overlap.ts";
import { sentenceWeight } from "./sentence-weight.ts";
import { showSpans } from "./show-spans.ts";
import { subjectWeights } from "./subject-weights.ts";
import { contentStems } from "./words.ts";

/** A word that a sentence already taken holds still counts for this much. */
const SEEN_SHARE = 0.4;
/** Between 0.5, where long sentences win, and 1, where short ones do. */
const LENGTH_EXPONENT = 0.6;
/** What a sentence right beside one already taken loses; half as much lies half a share of the text away. */
const CLOSENESS_LOSS = 0.5;
/** What is left of one in a section that has one already. */
const SAME_SECTION_FACTOR = 0.6;
const MOST_OVERLAP = 0.6;
/** A sentence that needs another takes the place of two, and is seldom worth both. */
const LEAD_IN_FACTOR = 0.6;

type Scored = {
  readonly candidate: Candidate;
  readonly words: ReadonlySet<string>;
  readonly weight: number;
  /** Sentences between it and the nearest one that is taken. */
  distance: number;
};

/**
 * The sentences that stand for a text, in its order: each adds most of the words that the text keeps coming back
 * to, counts more where it opens the text or a section, and less beside one already taken. Those that need the
 * sentence before them come with it; those that can't have it are passed over.
 *
 * Greedy coverage of weighted words, as in Filatova and Hatzivassiloglou, 2004.
 *
 * @param most number of sentences, with those that they need
 */
export function rankForSummary(
  candidates: readonly Candidate[],
  title: string,
  most: number,
): Candidate[] {
  const said = candidates.filter(isStatement);
  const understood = said.filter(({ shownFrom }) => shownFrom !== null);
  const usable = [understood, said, candidates].find(({ length }) => length > 0) ?? [];
  const weights = subjectWeights(candidates);
  const share = usable.length / most;
  let left = scoreAll(usable, weights, title);
  const picked: Candidate[] = [];
  const seen = new Set<string>();
  let room = most;
  while (room > 0) {
    const fitting = left.filter(({ candidate }) => candidate.sentences <= room);
    const best = bestOf(
      fitting,
      (one) => gainOf(one, weights, seen) * apart(one, share) * elsewhere(one, picked),
    );
    if (best === null) break;
    picked.push(best.candidate);
    room -= best.candidate.sentences;
    for (const word of best.words) seen.add(word);
    left = left.filter((one) => isNew(one, best));
    for (const one of left) one.distance = Math.min(one.distance, between(one, best));
  }
  return showSpans(picked.sort((a, b) => a.position - b.position));
}

/** "On Monday Meike wrote:" and "Actions:" lead to what is not shown with them. */
const isStatement = ({ kind, text }: Candidate): boolean =>
  kind !== "header" && !text.endsWith(":");

const isNew = (one: Scored, taken: Scored): boolean =>
  overlap(one.words, taken.words) < MOST_OVERLAP;

function scoreAll(
  candidates: readonly Candidate[],
  weights: ReadonlyMap<string, number>,
  title: string,
): Scored[] {
  const titleStems = new Set(contentStems(title));
  return candidates.map((candidate, index) => ({
    candidate,
    words: new Set(candidate.shownStems.filter((word) => weights.has(word))),
    weight:
      sentenceWeight(candidate, candidates[index - 1], titleStems) *
      (candidate.sentences === 1 ? 1 : LEAD_IN_FACTOR),
    distance: Number.POSITIVE_INFINITY,
  }));
}

/** @param share sentences of the text to one of the summary */
const apart = ({ distance }: Scored, share: number): number =>
  1 - CLOSENESS_LOSS * 0.5 ** (distance / (share / 2));

/** A text without sections is one. */
const elsewhere = ({ candidate }: Scored, picked: readonly Candidate[]): number =>
  picked.some(({ section }) => section !== "" && section === candidate.section)
    ? SAME_SECTION_FACTOR
    : 1;

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
