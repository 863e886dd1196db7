import { isQuestion } from "../../text/units/questions.ts";
import { alignWith } from "../../text/word-alignment.ts";
import type { Candidate } from "./candidates.ts";
import { contradictionsOf, lacksDenial } from "./contradictions.ts";
import { pickDiverse, pickLikely, showSpans } from "./pick-sentences.ts";
import type { Scored } from "./pick-sentences.ts";
import {
  answerForm,
  isSubjectFound,
  NAME_WEIGHT,
  namedSpeakers,
  nameOf,
  piecesOnSubject,
  parseQuestion,
} from "./question.ts";
import type { Question } from "./question.ts";
import { chancesOf } from "./weigh-sentences.ts";

/** A fact stands in one sentence; an account is spread around the places where its words occur. */
const REACH: Readonly<Record<Question["kind"], ContextWeights>> = {
  fact: {
    near: { kept: 0.5, weight: 0.35 },
    far: { kept: 0, weight: 0 },
    beyondParagraph: 0.5,
    // Search found the evidence by these very words, so how rare a word is within it means little.
    evenShare: 0.5,
  },
  account: {
    near: { kept: 0.8, weight: 1 },
    far: { kept: 0.97, weight: 0.8 },
    beyondParagraph: 1,
    evenShare: 0,
  },
};
/** The least shares of the question's words that the best sentence and each further one must cover. */
const LEAST_IN_BEST = 0.35;
const LEAST_IN_EACH = { fact: 0.3, account: 0.2 } as const;
/** Factor for sentences of a speaker whose name stands in the question. */
const SPEAKER_BONUS = 1.5;

/**
 * The sentences that answer a question, each with the earlier sentences that it needs: the likeliest first for a fact, in the
 * order of the evidence for an account. None if the important words of the question do not occur, which is an honest "not here".
 *
 * @param most the most sentences, not counting those that they need
 */
export function rankForQuestion(
  candidates: readonly Candidate[],
  question: string,
  most: number,
): Candidate[] {
  const asked = parseQuestion(question, candidates);
  const evidence = readEvidence(candidates, asked);
  if (asked.kind === "fact")
    return showSpans(pickLikely(scoreForFact(evidence, candidates, asked), most));
  const picked = pickDiverse(bestFirst(scoreForAccount(evidence.usable, asked)), most);
  // A reader of an account follows the evidence: blocks by rank, and each from its beginning.
  return showSpans(picked.toSorted((one, other) => one.position - other.position));
}

const bestFirst = <T extends Scored>(scored: readonly T[]): T[] =>
  scored.toSorted((a, b) => b.score - a.score || a.candidate.position - b.candidate.position);

type Evidence = {
  /** The whole evidence, with forms of the question's words replaced by these words. */
  readonly aligned: readonly Candidate[];
  /** The sentences that may be shown; none if the evidence is not about the question. */
  readonly usable: readonly Candidate[];
};

/** @param candidates all sentences of the evidence, in its order */
export function readEvidence(candidates: readonly Candidate[], asked: Question): Evidence {
  const { kind, terms } = asked;
  const aligned = alignWords(candidates, asked);
  if (terms.size === 0 || !isSubjectFound(asked, kind === "account" ? candidates : aligned))
    return { aligned, usable: [] };
  const pieces = piecesOnSubject(asked, aligned);
  const usable = aligned.filter(
    (candidate) =>
      pieces.has(candidate.number) &&
      (kind === "account" || !isQuestion(candidate.text)) &&
      isUnderstood(candidate, terms) &&
      (kind === "account" || isOnSubject(candidate, terms)),
  );
  return { aligned, usable };
}

function scoreForAccount(usable: readonly Candidate[], asked: Question): Scored[] {
  const speakers = namedSpeakers(usable, asked.terms);
  const covering = scoreSentences(usable, withSpeakers(asked.terms, speakers), REACH.account)
    .map(({ candidate, score, coverage }) => {
      const speaks = speakers.has(nameOf(candidate.speakerStems)) ? SPEAKER_BONUS : 1;
      return { candidate, coverage, score: score * speaks * answerForm(candidate, asked) };
    })
    .filter(({ coverage }) => coverage >= asked.leniency * LEAST_IN_EACH.account);
  return covering.some(({ coverage }) => coverage >= asked.leniency * LEAST_IN_BEST)
    ? covering
    : [];
}

/** Covered words decide whether to answer at all; chances decide which sentences to show. */
function scoreForFact(
  { aligned, usable }: Evidence,
  candidates: readonly Candidate[],
  asked: Question,
): Scored[] {
  const chances = chancesOf(usable, aligned, asked);
  const lacks = lacksDenial(asked.text);
  const scored = scoreSentences(usable, asked.terms, REACH.fact)
    .map(({ candidate, support, coverage: words }, at) => {
      const coverage = withPairs(words, candidate, asked, 1);
      const isCovering =
        coverage >= asked.leniency * LEAST_IN_BEST && isAnswer(candidate, support, asked);
      return { candidate, coverage, isCovering, score: chances[at] ?? 0 };
    })
    .filter(
      ({ candidate: { shownStems, text }, coverage, isCovering }) =>
        !lacks(text) &&
        (isCovering ||
          (coverage >= asked.leniency * LEAST_IN_EACH.fact &&
            shownStems.some((stem) => asked.terms.has(stem)))),
    );
  const left = bestFirst(withoutContradicted(scored, candidates, asked));
  const first = left.find(({ isCovering }) => isCovering);
  if (first === undefined) return [];
  const second = fittingBeside(first.candidate, left, asked);
  const rest = left.filter((one) => one !== first && one !== second);
  return second === null ? [first, ...rest] : [first, { ...second, score: first.score }, ...rest];
}

/**
 * If the first sentence lacks the requested kind of thing, such as a reason, returns the likeliest sentence that has it; it is
 * shown whatever its chance.
 */
function fittingBeside<T extends Scored>(
  first: Candidate,
  scored: readonly T[],
  { expected }: Question,
): T | null {
  const fits = (candidate: Candidate): boolean => expected.fit(candidate.text) > 1;
  return fits(first) ? null : (scored.find(({ candidate }) => fits(candidate)) ?? null);
}

type Covering = Scored & {
  /** Whether it covers enough of the question to answer it. */
  readonly isCovering: boolean;
};

/**
 * Removes sentences that contradict the question, and sentences that score no higher than the best contradicting one: that one
 * is then the best match for the question, and it is no answer.
 *
 * @param all the whole evidence
 */
function withoutContradicted(
  scored: readonly Covering[],
  all: readonly Candidate[],
  { text, terms }: Question,
): Covering[] {
  if (!scored.some(({ isCovering }) => isCovering)) return [];
  const contradicts = contradictionsOf(text, new Set(terms.keys()), all);
  const contradicted = new Set(scored.filter(({ candidate }) => contradicts(candidate)));
  const bar = [...contradicted].reduce(
    (highest, { isCovering, score }) => (isCovering ? Math.max(highest, score) : highest),
    0,
  );
  return scored.filter((one) => !contradicted.has(one) && one.score > bar);
}

/**
 * The least share of a question of five words or more that a sentence must support to answer it. A shorter question gives
 * less to match, so a larger share is required.
 */
const LEAST_SUPPORT = { whole: 0.35, perWordMissing: 0.04, words: 5 } as const;

/** Whether a sentence is an answer: it supports enough of the question's words, and contains the requested kind of thing. */
function isAnswer(candidate: Candidate, support: number, asked: Question): boolean {
  const { whole, perWordMissing, words } = LEAST_SUPPORT;
  const missing = Math.max(0, words - asked.terms.size);
  const least = asked.leniency * (whole + perWordMissing * missing);
  return (
    withPairs(support, candidate, asked, PAIR_IN_SUPPORT) >= least &&
    asked.expected.isIn(candidate.text)
  );
}
const PAIR_IN_SUPPORT = 0.5;

/** The paragraph shows who speaks, so the name of a speaker counts only like any other word. */
const withSpeakers = (
  terms: ReadonlyMap<string, number>,
  speakers: ReadonlySet<string>,
): ReadonlyMap<string, number> => {
  const names = new Set([...speakers].flatMap((name) => name.split(" ")));
  return new Map([...terms].map(([term, weight]) => [term, names.has(term) ? 1 : weight]));
};

/** Whether a sentence can be understood: its pronouns are explained before it, or a heading above has a word of the question. */
const isUnderstood = (
  { shownFrom, contextStems }: Candidate,
  terms: ReadonlyMap<string, number>,
): boolean => shownFrom !== null || [...terms.keys()].some((term) => contextStems.has(term));

/** A sentence that is shown with others must itself contain a word of the question. */
const isOnSubject = (
  { sentences, stems }: Candidate,
  terms: ReadonlyMap<string, number>,
): boolean => sentences === 1 || stems.some((stem) => terms.has(stem));

/** BM25 as in Robertson and Zaragoza, 2009, section 3.4. */
const K1 = 1;
const B = 0.4;
/** A word in a heading above counts as a part of one in the sentence; a word nearby covers a part of the question. */
const CONTEXT_WEIGHT = 0.55;
const NEIGHBOUR_COVERAGE = 0.35;
/** About the value of one occurrence two sentences away. */
const LEAST_NEAR = 0.5;
/** The number of occurrences nearby (near) or in the wider text (far) that gives half of the maximum. */
const NEAR_HALF = 1;
const FAR_HALF = 2;

/** How a kind of question weighs occurrences of a word by their distance. */
type ContextWeights = {
  /** `kept`: the part of an occurrence that is left one sentence further on, from 0 to 1; `weight`: how much it counts. */
  readonly near: { readonly kept: number; readonly weight: number };
  readonly far: { readonly kept: number; readonly weight: number };
  /** The part that is left beyond the end of a paragraph. */
  readonly beyondParagraph: number;
  /** The share of a word's weight that does not depend on how rare the word is in the evidence. */
  readonly evenShare: number;
};

type Match = {
  readonly candidate: Candidate;
  score: number;
  /** The share of the question's words in it, by weight; words of a heading or a neighbour count in part. */
  coverage: number;
  /** The same share, with each word also weighted by its rarity in the evidence. */
  support: number;
};

/**
 * How well each sentence, as it is shown, matches the question: BM25 of its own words, a part of those in headings above it, and
 * of those in the sentences around it, less with distance. Linear in sentences times terms.
 *
 * @param terms stems of the question with their weights
 */
function scoreSentences(
  candidates: readonly Candidate[],
  terms: ReadonlyMap<string, number>,
  reach: ContextWeights,
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
      match.score += value * (said + nearbyScore(place, reach));
      const held = heldBy(match.candidate, term, place);
      match.coverage += (weight * held) / total;
      match.support += ((rare.get(term) ?? 0) * held) / allRare;
    });
  }
  return matches;
}

type NearbyWeights = { readonly own: number; readonly near: number; readonly far: number };

function saidIn({ contextStems }: Candidate, term: string, count: number, length: number): number {
  if (count > 0) return (count * (K1 + 1)) / (count + K1 * length);
  return contextStems.has(term) ? CONTEXT_WEIGHT : 0;
}

const nearbyScore = ({ near, far }: NearbyWeights, reach: ContextWeights): number =>
  (reach.near.weight * near) / (near + NEAR_HALF) + (reach.far.weight * far) / (far + FAR_HALF);

function heldBy(
  { contextStems, speakerStems }: Candidate,
  term: string,
  place: NearbyWeights,
): number {
  if (place.own > 0 || speakerStems.includes(term)) return 1;
  if (contextStems.has(term)) return CONTEXT_WEIGHT;
  return place.near >= LEAST_NEAR ? NEIGHBOUR_COVERAGE : 0;
}

/** For each term that occurs, its number of occurrences in each sentence. */
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

/** 1 for a word in one sentence only, and close to `evenShare` for a word in all. */
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

/** The part of an occurrence that is left beyond a heading, in addition to `beyondParagraph`. */
const BEYOND_HEADING = 0.3;

/** For each sentence, the part of an occurrence that is left on the step from the sentence before; 0 between two blocks. */
function stepsOf(candidates: readonly Candidate[], beyondParagraph: number): Float64Array {
  return Float64Array.from(candidates, (candidate, index) => {
    const before = candidates[index - 1];
    if (before?.number !== candidate.number) return 0;
    if (before.contextStems !== candidate.contextStems) return BEYOND_HEADING * beyondParagraph;
    return candidate.start > before.start ? 1 : beyondParagraph;
  });
}

/**
 * Sums for each place the parts that arrive from all places before and after it, in two passes.
 *
 * @param kept the part that is left after each step, in addition to the factors in `steps`
 */
function spread(own: Float64Array, steps: Float64Array, kept: number): Float64Array {
  const reached = new Float64Array(own.length);
  let carried = 0;
  for (let index = 1; index < own.length; index += 1) {
    carried = (carried + (own[index - 1] ?? 0)) * kept * (steps[index] ?? 0);
    reached[index] = carried;
  }
  carried = 0;
  for (let index = own.length - 2; index >= 0; index -= 1) {
    carried = (carried + (own[index + 1] ?? 0)) * kept * (steps[index + 1] ?? 0);
    reached[index] = (reached[index] ?? 0) + carried;
  }
  return reached;
}

/**
 * The share of the question that a sentence covers if each pair of adjacent question words that is adjacent in it too counts
 * as further words.
 *
 * @param coverage the share without pairs, from 0 to 1
 * @param pairWeight the weight of a pair, in words
 */
function withPairs(
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

/** The candidates with forms of the question's words replaced by these words. Linear in words. */
function alignWords(
  candidates: readonly Candidate[],
  { terms: weights, language }: Question,
): Candidate[] {
  const said = candidates.flatMap(({ stems, contextStems }) => [stems, contextStems]);
  const words = [...new Set<Iterable<string>>(said)].flatMap((stems) => [...stems]);
  const terms = new Set(weights.keys());
  const names = new Set([...terms].filter((term) => weights.get(term) === NAME_WEIGHT));
  const align = alignWith(words, { terms, names, language });
  const sets = new Map<ReadonlySet<string>, ReadonlySet<string>>();
  const alignSet = (stems: ReadonlySet<string>): ReadonlySet<string> => {
    const found = sets.get(stems) ?? new Set([...stems].map(align));
    sets.set(stems, found);
    return found;
  };
  return candidates.map((candidate) => ({
    ...candidate,
    stems: candidate.stems.map(align),
    shownStems: candidate.shownStems.map(align),
    contextStems: alignSet(candidate.contextStems),
  }));
}
