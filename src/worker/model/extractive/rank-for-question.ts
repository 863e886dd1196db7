import type { Candidate } from "./candidates.ts";
import { expectedAnswer } from "./expected-answer.ts";
import { overlap } from "./overlap.ts";
import { NAME_WEIGHT, questionTerms } from "./question-terms.ts";

/** BM25 as in Robertson and Zaragoza, 2009, section 3.4. */
const K1 = 1.2;
const B = 0.6;
/** A word in a heading above, or in the sentence next to it, counts for part of one in the sentence. */
const CONTEXT_WEIGHT = 0.55;
const NEIGHBOUR_WEIGHT = 0.35;
/** Shares of the question's words, by weight, that the evidence and one sentence must hold. */
const LEAST_FOUND = 0.5;
const LEAST_NAMES_FOUND = 0.7;
const LEAST_IN_ONE = 0.35;
/** Further sentences are shown when they come near the best one and add words of the question, or come very near. */
const NEAR_BEST = 0.55;
const AS_GOOD = 0.8;
const MOST_OVERLAP = 0.7;
/** What the question asks for ("how many", "when") should be in the sentence. */
const EXPECTED_BONUS = 1.35;
/** A sentence of two or three words seldom says anything. */
const SLIGHT_STEMS = 3;
const SLIGHT_FACTOR = 0.6;
/** A table row is mostly words to find it by, and would win over the sentence that says the same. */
const LINE_FACTOR = 0.75;
/** A question in the text is no answer. */
const ASKING_FACTOR = 0.5;

/**
 * The sentences that answer a question, best first; none when the words that matter in the question do not
 * occur, which is an honest "not here".
 *
 * @param most number of sentences at most
 */
export function rankForQuestion(
  candidates: readonly Candidate[],
  question: string,
  most: number,
): Candidate[] {
  const terms = questionTerms(question);
  if (terms.size === 0 || !isSubjectFound(terms, candidates)) return [];
  const scored = scoreAll(candidates, terms, expectedAnswer(question));
  const best = scored[0];
  if (best === undefined) return [];
  const near = scored.filter(({ score }) => score >= best.score * NEAR_BEST);
  return pickAdding(near, [...terms.keys()], most);
}

/** Whether the words that matter occur at all: half of them, and most of the names. */
function isSubjectFound(
  terms: ReadonlyMap<string, number>,
  candidates: readonly Candidate[],
): boolean {
  const names = new Map([...terms].filter(([, weight]) => weight === NAME_WEIGHT));
  const isFound = (stem: string): boolean =>
    candidates.some(({ stems, contextStems }) => contextStems.has(stem) || stems.includes(stem));
  return (
    weightOf(terms, isFound) >= LEAST_FOUND * weightOf(terms, () => true) &&
    weightOf(names, isFound) >= LEAST_NAMES_FOUND * weightOf(names, () => true)
  );
}

const weightOf = (terms: ReadonlyMap<string, number>, counts: (stem: string) => boolean): number =>
  [...terms].reduce((total, [stem, weight]) => total + (counts(stem) ? weight : 0), 0);

type Scored = {
  readonly candidate: Candidate;
  readonly score: number;
  /** Share of the question's words that it holds, by weight. */
  readonly coverage: number;
};

function scoreAll(
  candidates: readonly Candidate[],
  terms: ReadonlyMap<string, number>,
  expected: RegExp | null,
): Scored[] {
  const rarity = rarityOf(terms, candidates);
  const lengths = candidates.reduce((total, { stems }) => total + stems.length, 0);
  const averageLength = Math.max(1, lengths / Math.max(1, candidates.length));
  return candidates
    .map((candidate) => {
      const matched = bm25(candidate, rarity, averageLength);
      const fits = expected?.test(candidate.text) === true ? EXPECTED_BONUS : 1;
      const isSlight = candidate.kind === "sentence" && candidate.stems.length <= SLIGHT_STEMS;
      const coverage = coverageOf(candidate, terms);
      const form =
        (isSlight ? SLIGHT_FACTOR : 1) *
        (candidate.kind === "line" ? LINE_FACTOR : 1) *
        (candidate.text.endsWith("?") ? ASKING_FACTOR : 1);
      const share = (0.5 + coverage) * fits * form;
      return { candidate, score: matched * share, coverage };
    })
    .filter(({ coverage }) => coverage >= LEAST_IN_ONE)
    .sort((a, b) => b.score - a.score || a.candidate.position - b.candidate.position);
}

/** The evidence was searched out by these very words, so that how rare they are in it says only so much. */
const EVEN_SHARE = 0.5;

/** Weight of each word of the question: rare in the evidence, and important in the question. */
function rarityOf(
  terms: ReadonlyMap<string, number>,
  candidates: readonly Candidate[],
): Map<string, number> {
  const holding = new Map<string, number>();
  for (const stem of terms.keys()) {
    holding.set(stem, candidates.filter(({ stems }) => stems.includes(stem)).length);
  }
  const total = candidates.length;
  return new Map(
    [...terms].map(([stem, weight]) => {
      const n = holding.get(stem) ?? 0;
      const idf = Math.log(1 + (total - n + 0.5) / (n + 0.5)) / Math.log(1 + 2 * (total + 0.5));
      return [stem, weight * (EVEN_SHARE + (1 - EVEN_SHARE) * idf)];
    }),
  );
}

function bm25(
  { stems, contextStems, neighbourStems }: Candidate,
  rarity: ReadonlyMap<string, number>,
  averageLength: number,
): number {
  const length = 1 - B + (B * stems.length) / averageLength;
  let score = 0;
  for (const [term, weight] of rarity) {
    const frequency = stems.filter((stem) => stem === term).length;
    if (frequency > 0) score += (weight * frequency * (K1 + 1)) / (frequency + K1 * length);
    else if (contextStems.has(term)) score += weight * CONTEXT_WEIGHT;
    else if (neighbourStems.includes(term)) score += weight * NEIGHBOUR_WEIGHT;
  }
  return score;
}

function coverageOf(
  { stems, contextStems, neighbourStems }: Candidate,
  terms: ReadonlyMap<string, number>,
): number {
  let held = 0;
  for (const [stem, weight] of terms) {
    if (stems.includes(stem)) held += weight;
    else if (contextStems.has(stem)) held += weight * CONTEXT_WEIGHT;
    else if (neighbourStems.includes(stem)) held += weight * NEIGHBOUR_WEIGHT;
  }
  return held / weightOf(terms, () => true);
}

/** The best one, and further ones that hold words of the question which none before holds, or are as good and new. */
function pickAdding(
  scored: readonly Scored[],
  terms: readonly string[],
  most: number,
): Candidate[] {
  const picked: { candidate: Candidate; words: ReadonlySet<string> }[] = [];
  const missing = new Set(terms);
  const best = scored[0]?.score ?? 0;
  for (const { candidate, score } of scored) {
    if (picked.length === most) break;
    const words = new Set(candidate.stems);
    const isAsGood =
      score >= best * AS_GOOD &&
      picked.every((other) => overlap(words, other.words) < MOST_OVERLAP);
    const isAdding =
      picked.length === 0 || terms.some((term) => missing.has(term) && words.has(term));
    if (!isAdding && !isAsGood) continue;
    picked.push({ candidate, words });
    for (const word of words) missing.delete(word);
  }
  return picked.map(({ candidate }) => candidate);
}
