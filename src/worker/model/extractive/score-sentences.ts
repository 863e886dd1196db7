import type { Candidate } from "./candidates.ts";
import { spread, stepsOf } from "./spread-to-neighbours.ts";

/** BM25 as in Robertson and Zaragoza, 2009, section 3.4. */
const K1 = 1;
const B = 0.4;
/** A word in a heading above counts for part of one in the sentence; a neighbour's covers part of the question. */
const CONTEXT_WEIGHT = 0.55;
const NEIGHBOUR_COVERAGE = 0.35;
/** Roughly a word two sentences away. */
const LEAST_NEAR = 0.5;
/** How often a word must stand nearby, or all around, to be worth half as much as it can. */
const NEAR_HALF = 1;
const FAR_HALF = 2;

/** How a kind of question weighs a word by where it stands. */
export type Reach = {
  /** What is left of a word one sentence further on, between 0 and 1, and how much it counts. */
  readonly near: { readonly kept: number; readonly weight: number };
  readonly far: { readonly kept: number; readonly weight: number };
  /** What is left of it beyond the end of a paragraph. */
  readonly beyondParagraph: number;
  /** Share of a word's weight that does not depend on how rare it is in the evidence. */
  readonly evenShare: number;
};

export type Match = {
  readonly candidate: Candidate;
  score: number;
  /** Share of the question's words that it holds, by weight; in part where a heading or a neighbour holds them. */
  coverage: number;
  /** The same share with each word weighed by how rare it is in the evidence too. */
  support: number;
};

/**
 * How well each sentence, as it is shown, matches the question: BM25 of its own words, those of headings above it
 * in part, and those of the sentences around it the less the farther they stand. Linear in sentences times terms.
 *
 * @param terms stems of the question and the weight of each
 */
export function scoreSentences(
  candidates: readonly Candidate[],
  terms: ReadonlyMap<string, number>,
  reach: Reach,
): Match[] {
  const counts = countsOf(candidates, terms);
  const lengths = lengthFactors(candidates);
  const steps = stepsOf(candidates, reach.beyondParagraph);
  const matches = candidates.map((candidate): Match => ({
    candidate,
    score: 0,
    coverage: 0,
    support: 0,
  }));
  const total = [...terms.values()].reduce((sum, weight) => sum + weight, 0);
  const none = new Float64Array(candidates.length);
  const rare = new Map(
    [...terms].map(([term, weight]) => [term, weight * rarityOf(counts.get(term) ?? none, 0)]),
  );
  const allRare = [...rare.values()].reduce((sum, weight) => sum + weight, 0);
  for (const [term, weight] of terms) {
    const own = counts.get(term) ?? none;
    const value = weight * rarityOf(own, reach.evenShare);
    const near = spread(own, steps, reach.near.kept);
    const far = spread(own, steps, reach.far.weight === 0 ? 0 : reach.far.kept);
    matches.forEach((match, index) => {
      const place = { own: own[index] ?? 0, near: near[index] ?? 0, far: far[index] ?? 0 };
      const said = saidIn(match.candidate, term, place.own, lengths[index] ?? 1);
      match.score += value * (said + borrowed(place, reach));
      const held = heldBy(match.candidate, term, place);
      match.coverage += (weight * held) / total;
      match.support += ((rare.get(term) ?? 0) * held) / allRare;
    });
  }
  return matches;
}

type Place = { readonly own: number; readonly near: number; readonly far: number };

function saidIn({ contextStems }: Candidate, term: string, count: number, length: number): number {
  if (count > 0) return (count * (K1 + 1)) / (count + K1 * length);
  return contextStems.has(term) ? CONTEXT_WEIGHT : 0;
}

const borrowed = ({ near, far }: Place, reach: Reach): number =>
  (reach.near.weight * near) / (near + NEAR_HALF) + (reach.far.weight * far) / (far + FAR_HALF);

function heldBy({ contextStems, speakerStems }: Candidate, term: string, place: Place): number {
  if (place.own > 0 || speakerStems.includes(term)) return 1;
  if (contextStems.has(term)) return CONTEXT_WEIGHT;
  return place.near >= LEAST_NEAR ? NEIGHBOUR_COVERAGE : 0;
}

/** For each term that occurs, how often it does in each sentence. */
function countsOf(
  candidates: readonly Candidate[],
  terms: ReadonlyMap<string, number>,
): Map<string, Float64Array> {
  const found = new Map<string, Float64Array>();
  candidates.forEach(({ shownStems }, index) => {
    for (const stem of shownStems) {
      if (!terms.has(stem)) continue;
      const counts = found.get(stem) ?? new Float64Array(candidates.length);
      counts[index] = (counts[index] ?? 0) + 1;
      found.set(stem, counts);
    }
  });
  return found;
}

/** 1 for a word that stands in one sentence, and toward `evenShare` for one that stands in all. */
function rarityOf(own: Float64Array, evenShare: number): number {
  const total = own.length;
  const holding = own.reduce((sum, count) => sum + Math.min(1, count), 0);
  const idf = Math.log(1 + (total - holding + 0.5) / (holding + 0.5));
  return evenShare + ((1 - evenShare) * idf) / Math.log(1 + 2 * (total + 0.5));
}

function lengthFactors(candidates: readonly Candidate[]): number[] {
  const words = candidates.reduce((total, { shownStems }) => total + shownStems.length, 0);
  const average = Math.max(1, words / Math.max(1, candidates.length));
  return candidates.map(({ shownStems }) => 1 - B + (B * shownStems.length) / average);
}
