import type { Candidate } from "./candidates.ts";
import { answerForm } from "./question.ts";
import type { Question } from "./question.ts";

/** Clues that a sentence answers a question for a fact. Shares go from 0 to 1. */
export type Clues = {
  /** Share of the question's words in the sentence, weighted by rarity in the evidence; only words that occur there count. */
  readonly rare: number;
  /** Share of the question's words in the sentence, unweighted. */
  readonly words: number;
  /** Shares, weighted by rarity, of words that the sentence lacks and its neighbour before or after it has. */
  readonly before: number;
  readonly after: number;
  /** 1 for the first block of evidence, a half for the second, and so on. */
  readonly rank: number;
  /** Logarithm of how well the sentence fits the requested kind of thing, such as a day, and of how well its form does. */
  readonly fit: number;
  readonly form: number;
};

/**
 * The weight of each clue in the logarithm of the odds that a sentence is the answer. bench/sentence-weights.ts learnt them from
 * the half of the questions that may be used to write rules, in three languages.
 */
export const CLUE_WEIGHTS: Clues = {
  rare: 5.53,
  words: 4.04,
  before: 4.71,
  after: 3.67,
  rank: 2.56,
  fit: 4.97,
  form: 4.9,
};

/** The chance of each sentence to be the answer, if one of them is; the sum is 1. */
export function chancesOf(
  candidates: readonly Candidate[],
  all: readonly Candidate[],
  asked: Question,
): number[] {
  const odds = cluesOf(candidates, all, asked).map(weigh);
  const best = odds.reduce((highest, one) => Math.max(highest, one), Number.NEGATIVE_INFINITY);
  const shares = odds.map((one) => Math.exp(one - best));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => share / total);
}

const weigh = (clues: Clues): number =>
  CLUES.reduce((sum, clue) => sum + CLUE_WEIGHTS[clue] * clues[clue], 0);

export const CLUES = ["rare", "words", "before", "after", "rank", "fit", "form"] as const;

/**
 * @param candidates sentences that may answer
 * @param all the whole evidence in its order, with the words of the question in one form
 */
export function cluesOf(
  candidates: readonly Candidate[],
  all: readonly Candidate[],
  asked: Question,
): Clues[] {
  const rarity = rarityOfTerms(candidates, asked.terms);
  const total = [...rarity.values()].reduce((sum, weight) => sum + weight, 0);
  const held = all.map(({ stems }) => new Set(stems.filter((stem) => rarity.has(stem))));
  const weightOf = (terms: Iterable<string>): number => {
    let sum = 0;
    for (const term of terms) sum += rarity.get(term) ?? 0;
    return sum;
  };
  const places = new Map(all.map(({ position }, at) => [position, at]));
  const found = new Set<string>();
  for (const { shownStems } of candidates) for (const stem of shownStems) found.add(stem);
  const ofFound = Math.max(weightOf(found), Number.MIN_VALUE);
  return candidates.map((candidate) => {
    const at = places.get(candidate.position) ?? 0;
    const shown = new Set(candidate.shownStems.filter((stem) => rarity.has(stem)));
    const addedBy = (place: number): number => {
      const adding = [...(held[place] ?? [])].filter((stem) => !shown.has(stem));
      return (weightOf(adding) * closeness(candidate, all[place])) / total;
    };
    return {
      rare: weightOf(shown) / ofFound,
      words: shown.size / rarity.size,
      before: addedBy(at - 1),
      after: addedBy(at + 1),
      rank: 1 / candidate.number,
      fit: Math.log(asked.expected.fit(candidate.text)),
      form: Math.log(answerForm(candidate, asked)),
    };
  });
}

/** Weight of a neighbour in the next paragraph relative to one in the same; under another heading it is 0. */
const NEXT_PARAGRAPH = 0.5;

function closeness(one: Candidate, other: Candidate | undefined): number {
  if (one.number !== other?.number || one.contextStems !== other.contextStems) return 0;
  return one.block === other.block ? 1 : NEXT_PARAGRAPH;
}

/** The weight of each word of the question times the logarithm of its rarity among the sentences. */
function rarityOfTerms(
  candidates: readonly Candidate[],
  terms: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const holding = new Map<string, number>();
  for (const { stems } of candidates) {
    for (const stem of new Set(stems)) {
      if (terms.has(stem)) holding.set(stem, (holding.get(stem) ?? 0) + 1);
    }
  }
  const weigh = (term: string, weight: number): number => {
    const count = holding.get(term) ?? 0;
    return weight * Math.log(1 + (candidates.length - count + 0.5) / (count + 0.5));
  };
  return new Map([...terms].map(([term, weight]) => [term, weigh(term, weight)]));
}
