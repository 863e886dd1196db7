import { alignWords } from "./align-words.ts";
import { answerForm } from "./answer-form.ts";
import type { Candidate } from "./candidates.ts";
import { isSubjectFound, piecesOnSubject } from "./is-subject-found.ts";
import { namedSpeakers, nameOf } from "./named-speakers.ts";
import { withPairs } from "./pair-coverage.ts";
import { pickAdding, pickDiverse, type Scored } from "./pick-sentences.ts";
import { readQuestion, type Question } from "./read-question.ts";
import { scoreSentences, type Reach } from "./score-sentences.ts";
import { showSpans } from "./show-spans.ts";

/** A fact stands in one sentence; what was said about something, all around where its words fall. */
const REACH: Readonly<Record<Question["kind"], Reach>> = {
  fact: {
    near: { kept: 0.5, weight: 0.35 },
    far: { kept: 0, weight: 0 },
    beyondParagraph: 0.5,
    // The evidence was searched out by these very words, so that how rare they are in it says only so much.
    evenShare: 0.5,
  },
  account: {
    near: { kept: 0.8, weight: 1 },
    far: { kept: 0.97, weight: 0.8 },
    beyondParagraph: 1,
    evenShare: 0,
  },
};
/** Shares of the question's words that the best sentence and any further one must cover. */
const LEAST_IN_BEST = 0.35;
const LEAST_IN_EACH = { fact: 0.35, account: 0.2 } as const;
/** Further sentences for a fact are shown when they come near the best one. */
const NEAR_BEST = 0.55;
/** A name of a speaker asks for what that speaker said. */
const SPEAKER_BONUS = 1.5;

/**
 * The sentences that answer a question, in the order of the evidence, each with the sentences before it that it needs; none when the
 * words that matter in the question do not occur, which is an honest "not here".
 *
 * @param most number of sentences at most, beside those that they need
 */
export function rankForQuestion(
  candidates: readonly Candidate[],
  question: string,
  most: number,
): Candidate[] {
  const asked = readQuestion(question);
  const scored = scoreForQuestion(candidates, asked);
  const best = scored[0];
  if (best === undefined) return [];
  if (asked.kind === "account") return inTextOrder(pickDiverse(scored, most));
  const near = scored.filter(({ score }) => score >= best.score * NEAR_BEST);
  return inTextOrder(pickAdding(near, [...asked.terms.keys()], most));
}

/** A reader follows the evidence: pieces by rank, and each from its beginning. */
const inTextOrder = (picked: readonly Candidate[]): Candidate[] =>
  showSpans(picked.toSorted((one, other) => one.position - other.position));

/** All sentences that may answer, best first; none when the evidence is not about the question. */
export function scoreForQuestion(candidates: readonly Candidate[], asked: Question): Scored[] {
  const { kind, terms } = asked;
  const aligned = alignWords(candidates, terms);
  if (terms.size === 0 || !isSubjectFound(asked, kind === "account" ? candidates : aligned))
    return [];
  const pieces = piecesOnSubject(asked, aligned);
  const usable = aligned.filter(
    (candidate) =>
      pieces.has(candidate.number) &&
      isUnderstood(candidate, terms) &&
      (kind === "account" || isOnSubject(candidate, terms)),
  );
  const speakers = kind === "account" ? namedSpeakers(usable, terms) : new Set<string>();
  const matches = scoreSentences(usable, withSpeakers(terms, speakers), REACH[kind]);
  const covering = matches
    .filter(({ candidate, support }) => kind === "account" || answers(candidate, support, asked))
    .map(({ candidate, score, coverage: words }) => {
      const coverage = withPairs(words, candidate, asked, 1);
      const speaks = speakers.has(nameOf(candidate.speakerStems)) ? SPEAKER_BONUS : 1;
      const share = kind === "fact" ? 0.5 + coverage : 1;
      return { candidate, coverage, score: score * share * speaks * answerForm(candidate, asked) };
    })
    .filter(({ coverage }) => coverage >= LEAST_IN_EACH[kind]);
  return covering.some(({ coverage }) => coverage >= LEAST_IN_BEST)
    ? covering.sort((a, b) => b.score - a.score || a.candidate.position - b.candidate.position)
    : [];
}

/**
 * Share of a question of five words or more that a sentence must carry to answer it. A shorter question leaves less to go by,
 * and more of it must be there.
 */
const LEAST_SUPPORT = { whole: 0.35, perWordMissing: 0.04, words: 5 } as const;

/** A sentence that shares the question's words and holds no such thing as it asks for is no answer to it. */
function answers(candidate: Candidate, support: number, asked: Question): boolean {
  const { whole, perWordMissing, words } = LEAST_SUPPORT;
  const least = whole + perWordMissing * Math.max(0, words - asked.terms.size);
  return (
    withPairs(support, candidate, asked, PAIR_IN_SUPPORT) >= least &&
    asked.expected.isIn(candidate.text)
  );
}
const PAIR_IN_SUPPORT = 0.5;

/** Who speaks is known from the paragraph, so that the name has to stand in it no more than any word. */
const withSpeakers = (
  terms: ReadonlyMap<string, number>,
  speakers: ReadonlySet<string>,
): ReadonlyMap<string, number> => {
  const names = new Set([...speakers].flatMap((name) => name.split(" ")));
  return new Map([...terms].map(([term, weight]) => [term, names.has(term) ? 1 : weight]));
};

/** A pronoun that nothing before explains is understood where the heading above says what was asked about. */
const isUnderstood = (
  { shownFrom, contextStems }: Candidate,
  terms: ReadonlyMap<string, number>,
): boolean => shownFrom !== null || [...terms.keys()].some((term) => contextStems.has(term));

/** Beside the sentences that it needs, it has to hold a word of the question itself. */
const isOnSubject = (
  { sentences, stems }: Candidate,
  terms: ReadonlyMap<string, number>,
): boolean => sentences === 1 || stems.some((stem) => terms.has(stem));
