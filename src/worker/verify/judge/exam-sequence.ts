import type { OwnCounts } from "../../../shared/store/hosts/exams.ts";
import { wilson } from "../../../shared/wilson.ts";

export type ExamTally = { readonly asked: number; readonly confirmed: number };
export type ExamCounts = { readonly wrong: ExamTally; readonly right: ExamTally };
/** `weak`: its verdicts are shown but do not count. `useless`: it confirms too few right statements. */
export type ExamVerdict = "open" | "passed" | "weak" | "failed" | "useless";

/** Limit of wrong pairs, and also of right pairs, in an exam. */
export const MOST_PAIRS = 200;

/** Least wrong pairs before a judge may pass, and before it may fail: one that always says yes fails after three calls. */
const FIRST_PASS = 60;
const FIRST_FAIL = 15;
const PASSED_AT = 0.1;
const WEAK_AT = 0.2;
const LEAST_RIGHT = 0.6;
const FIRST_USELESS = 30;

/**
 * Decides an exam after a call, by the 95 % interval at each look. A model has up to 40 looks, and so as many chances; the
 * operating characteristic that `bench/exam.ts` prints includes them.
 *
 * @param isLast whether no pair is left: then an open exam has not passed
 */
export function decideExam({ wrong, right }: ExamCounts, isLast: boolean): ExamVerdict {
  const { low, high } = wilson(wrong.confirmed, wrong.asked);
  if (isSurelyUseless(right)) return "useless";
  if (wrong.asked >= FIRST_PASS && high <= PASSED_AT) return unlessUseless("passed", right);
  const isOver = isLast || (wrong.asked >= FIRST_FAIL && low >= PASSED_AT);
  if (!isOver) return "open";
  return high <= WEAK_AT ? unlessUseless("weak", right) : "failed";
}

/** Before the end, a judge is useless only if even the upper bound is too low. */
const isSurelyUseless = ({ asked, confirmed }: ExamTally): boolean =>
  asked >= FIRST_USELESS && wilson(confirmed, asked).high < LEAST_RIGHT;

/** At the end, the share itself decides. */
const unlessUseless = (
  verdict: "passed" | "weak",
  { asked, confirmed }: ExamTally,
): "passed" | "weak" | "useless" => (confirmed < LEAST_RIGHT * asked ? "useless" : verdict);

/** Candidate limits from which a score counts as yes, the strictest first. */
const LIMITS: readonly [number, ...number[]] = [0.99, 0.97, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5];
export const STRICTEST = LIMITS[0];

/**
 * The score from which a judge that gives scores says yes: the lowest candidate at which the upper bound of confirmed wrong
 * statements still passes. Candidates are tested from the strictest on until one fails, so that the bound is valid for the
 * chosen one as for a single test (fixed sequence of tests; Maurer, Hothorn and Lehmacher 1995). The strictest where none
 * passes.
 * @param wrong scores of wrong statements
 */
export function yesLimit(wrong: readonly number[]): number {
  const over = LIMITS.findIndex((limit) => {
    const confirmed = wrong.filter((score) => score >= limit).length;
    return wilson(confirmed, wrong.length).high > PASSED_AT;
  });
  return LIMITS[(over === -1 ? LIMITS.length : over) - 1] ?? STRICTEST;
}

/** The shares of wrong and right statements, from a set that no rule was written on, that pass the vetoes and reach a judge. */
const PASSES_VETOES = { wrong: 0.61, right: 0.89 };
/** The assumed share of wrong statements in a draft, which the sentence states. */
const WRONG_BEFORE = 0.1;

/** A share in per cent, with its 95 % interval. */
export type WrongShare = { readonly about: number; readonly low: number; readonly high: number };

/**
 * The number of wrong statements among 100 that vetoes and judge accept as supported, if a tenth were wrong before. `about`
 * uses the posterior means (confirmed + 1) / (asked + 2), so that 0 of 60 does not give 0. `low` and `high` use the best and
 * worst ends of Wilson's intervals.
 */
export function wrongOfSupported({ wrong, right }: ExamCounts): WrongShare {
  const meanOf = ({ asked, confirmed }: ExamTally): number => (confirmed + 1) / (asked + 2);
  const [ofWrong, ofRight] = [wrong, right].map(({ asked, confirmed }) => wilson(confirmed, asked));
  return {
    about: wrongShare(meanOf(wrong), meanOf(right)),
    low: wrongShare(ofWrong?.low ?? 0, ofRight?.high ?? 1),
    high: wrongShare(ofWrong?.high ?? 1, ofRight?.low ?? 0),
  };
}

function wrongShare(confirmedWrong: number, confirmedRight: number): number {
  const wrong = WRONG_BEFORE * PASSES_VETOES.wrong * confirmedWrong;
  const right = (1 - WRONG_BEFORE) * PASSES_VETOES.right * confirmedRight;
  return wrong === 0 ? 0 : (100 * wrong) / (wrong + right);
}

/** The sentence about a judge for people: "qwen3:8b confirmed 3 of 90 wrong statements and …". */
export function examSentence(model: string, counts: ExamCounts): string {
  const { wrong, right } = counts;
  const { about, low, high } = wrongOfSupported(counts);
  return (
    `${model} confirmed ${wrong.confirmed} of ${wrong.asked} wrong statements and ` +
    `${right.confirmed} of ${right.asked} right ones: of 100 supported statements about ` +
    `${about.toFixed(1)} (${low.toFixed(1)} to ${high.toFixed(1)}) are wrong, if ${100 * WRONG_BEFORE} of 100 were`
  );
}

const OWN_WORDS = {
  machine: ["sentences that were changed in one place", "that were not"],
  person: ["statements that people rejected or corrected", "that they accepted"],
} as const;

/** The sources of the own statements that were asked, people's first. */
export const ownSources = (own: OwnCounts): readonly (keyof OwnCounts)[] =>
  (["person", "machine"] as const).filter((by) => own[by].wrong.asked + own[by].right.asked > 0);

/** The results on the user's own documents, a sentence for each source; none where no own statement was asked. */
export const ownSentences = (own: OwnCounts): readonly string[] =>
  ownSources(own).map((by) => {
    const { wrong, right } = own[by];
    const [ofWrong, ofRight] = OWN_WORDS[by];
    return `On your own documents it confirmed ${wrong.confirmed} of ${wrong.asked} ${ofWrong}, and ${right.confirmed} of ${right.asked} ${ofRight}.`;
  });
