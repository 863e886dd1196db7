import type { OwnCounts } from "../../../shared/store/hosts/exams.ts";
import { wilson } from "../../../shared/wilson.ts";

export type ExamTally = { readonly asked: number; readonly confirmed: number };
export type ExamCounts = { readonly wrong: ExamTally; readonly right: ExamTally };
/** `weak` is shown and counts nothing. `useless` confirms too few of the right ones. */
export type ExamVerdict = "open" | "passed" | "weak" | "failed" | "useless";

/** As many wrong pairs, and as many right ones, are asked at most. */
export const MOST_PAIRS = 200;

/** From how many wrong pairs on it may pass, and be told to be no judge: a nodding one is seen in three calls. */
const FIRST_PASS = 60;
const FIRST_FAIL = 15;
const PASSED_AT = 0.1;
const WEAK_AT = 0.2;
const LEAST_RIGHT = 0.6;
const FIRST_USELESS = 30;

/**
 * What an exam says after a call, by the interval of 95 % at each look. A model that is looked at up to 40 times gets that
 * many chances; the operating characteristic that `bench/exam.ts` prints has them in.
 *
 * @param isLast no pair is left: what is still open has not passed
 */
export function decideExam({ wrong, right }: ExamCounts, isLast: boolean): ExamVerdict {
  const { low, high } = wilson(wrong.confirmed, wrong.asked);
  if (isSurelyUseless(right)) return "useless";
  if (wrong.asked >= FIRST_PASS && high <= PASSED_AT) return unlessUseless("passed", right);
  const isOver = isLast || (wrong.asked >= FIRST_FAIL && low >= PASSED_AT);
  if (!isOver) return "open";
  return high <= WEAK_AT ? unlessUseless("weak", right) : "failed";
}

/** Before the end even the upper bound has to be too low. */
const isSurelyUseless = ({ asked, confirmed }: ExamTally): boolean =>
  asked >= FIRST_USELESS && wilson(confirmed, asked).high < LEAST_RIGHT;

/** At the end the share itself counts. */
const unlessUseless = (
  verdict: "passed" | "weak",
  { asked, confirmed }: ExamTally,
): "passed" | "weak" | "useless" => (confirmed < LEAST_RIGHT * asked ? "useless" : verdict);

/** Scores from which on a yes may count, the strictest first. */
const LIMITS: readonly [number, ...number[]] = [0.99, 0.97, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5];
export const STRICTEST = LIMITS[0];

/**
 * From which score on somebody who gives scores says yes: the lowest of some at which the upper bound of wrong ones confirmed is that of a
 * pass. They are looked at from the strictest on until one is over it, so that the bound holds of the chosen one as of a single look (a
 * fixed sequence of tests; Maurer, Hothorn and Lehmacher 1995). The strictest where none holds.
 * @param wrong scores of wrong statements
 */
export function yesLimit(wrong: readonly number[]): number {
  const over = LIMITS.findIndex((limit) => {
    const confirmed = wrong.filter((score) => score >= limit).length;
    return wilson(confirmed, wrong.length).high > PASSED_AT;
  });
  return LIMITS[(over === -1 ? LIMITS.length : over) - 1] ?? STRICTEST;
}

/** Of wrong and right statements that nobody had written rules against, the shares that pass the vetoes and come to a judge. */
const PASSES_VETOES = { wrong: 0.61, right: 0.89 };
/** Of statements of a draft the share that is wrong, as the sentence says. */
const WRONG_BEFORE = 0.1;

/** In per cent, with the interval of 95 %. */
export type WrongShare = { readonly about: number; readonly low: number; readonly high: number };

/**
 * Of 100 statements that vetoes and judge let stand as supported, how many are wrong, if a tenth were wrong before. The
 * middle takes the means of what the exam leaves possible, (confirmed + 1) / (asked + 2): after 0 of 60 it is not 0. The ends
 * take those of Wilson's intervals that are worst and best.
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

/** What a person reads of a judge: "qwen3:8b confirmed 3 of 90 wrong statements and …". */
export function examSentence(model: string, counts: ExamCounts): string {
  const { wrong, right } = counts;
  const [about, low, high] = inTenths(wrongOfSupported(counts));
  return (
    `${model} confirmed ${wrong.confirmed} of ${wrong.asked} wrong statements and ` +
    `${right.confirmed} of ${right.asked} right ones: of 100 supported statements about ` +
    `${about} (${low} to ${high}) are wrong, if ${100 * WRONG_BEFORE} of 100 were`
  );
}

const inTenths = ({ about, low, high }: WrongShare): [string, string, string] => [
  about.toFixed(1),
  low.toFixed(1),
  high.toFixed(1),
];

const OWN_WORDS = {
  machine: ["sentences that were changed in one place", "that were not"],
  person: ["statements that people rejected or corrected", "that they accepted"],
} as const;

/** Whose statements it was asked of, people's first. */
export const askedBy = (own: OwnCounts): readonly (keyof OwnCounts)[] =>
  (["person", "machine"] as const).filter((by) => own[by].wrong.asked + own[by].right.asked > 0);

/** What it did over the user's own documents; nothing where none of their statements was asked. */
export const ownSentences = (own: OwnCounts): readonly string[] =>
  askedBy(own).map((by) => {
    const { wrong, right } = own[by];
    const [ofWrong, ofRight] = OWN_WORDS[by];
    return `On your own documents it confirmed ${wrong.confirmed} of ${wrong.asked} ${ofWrong}, and ${right.confirmed} of ${right.asked} ${ofRight}.`;
  });
