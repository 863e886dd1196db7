import type { JobResult } from "../../shared/views/results.ts";
import { wilson } from "../../shared/wilson.ts";
import type { Question } from "./questions.ts";

/** The verdict on a question: a right or wrong answer, a right or wrong refusal, or a failed job. */
export const VERDICTS = ["right", "wrong", "refused_rightly", "refused_wrongly", "failed"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** An answer. `scope` is its footer, which is no part of the answer; `paths` are the files of its evidence. */
type Given = Pick<JobResult, "state" | "answer" | "scope"> & { readonly paths: readonly string[] };

/**
 * A right answer holds one spelling of each expected fact, regardless of case, accents, spaces and quotation marks; a number
 * must be whole, so that "5" is not found in "15" or "5.2". Without expected facts, it must rest on one of the files.
 */
export function judgeAnswer(question: Question, given: Given): Verdict {
  const { isUnanswerable } = question;
  if (given.state === "refused") return isUnanswerable ? "refused_rightly" : "refused_wrongly";
  if (given.state !== "succeeded") return "failed";
  return holdsAll(question, given) ? "right" : "wrong";
}

function holdsAll({ expected, files, isUnanswerable }: Question, given: Given): boolean {
  if (expected.length === 0) return !isUnanswerable && restsOn(files, given);
  const answer = foldText(withoutMarks(given));
  return expected.every((spellings) => spellings.some((said) => holds(answer, foldText(said))));
}

export const restsOn = (files: readonly string[], { paths }: Given): boolean =>
  files.some((file) => paths.includes(file));

/** Drops the footer and the citation numbers, which contain other figures. */
const withoutMarks = ({ answer, scope }: Given): string =>
  (answer ?? "").replace(scope ?? "", "").replace(/[[【][\d,;\s–-]{1,200}[\]】]/g, " ");

/** A text of up to three characters, such as "no" or "six", must be a whole word. */
const SHORT_CHARS = 3;

function holds(answer: string, said: string): boolean {
  const isShort = said.length <= SHORT_CHARS && /^[\p{L}\p{N}]+$/u.test(said);
  for (let at = answer.indexOf(said); at !== -1; at = answer.indexOf(said, at + 1)) {
    const before = answer.slice(Math.max(0, at - 2), at);
    const after = answer.slice(at + said.length, at + said.length + 2);
    const isWord = !/[\p{L}\p{N}]$/u.test(before) && !/^[\p{L}\p{N}]/u.test(after);
    if (isNumberWhole(said, before, after) && (!isShort || isWord)) return true;
  }
  return false;
}

const isNumberWhole = (said: string, before: string, after: string): boolean =>
  !(/^\p{N}/u.test(said) && /\p{N}[.,]?$/u.test(before)) &&
  !(/\p{N}$/u.test(said) && /^[.,]?\p{N}/u.test(after));

const foldText = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/ß/g, "ss")
    .replace(/[‐‑‒–—−]/g, "-")
    .replace(/[‘’‚´`]/g, "'")
    .replace(/[“”„«»]/g, '"')
    .replace(/[*_]{1,3}/g, "")
    .replace(/\s+/g, " ")
    .trim();

/** The number of questions by verdict. */
export type Tally = Readonly<Record<Verdict, number>> & {
  /** Questions with an answer in the documents, and those without one. */
  readonly answerable: number;
  readonly unanswerable: number;
};

export type Judged = { readonly question: Question; readonly verdict: Verdict };

export function tallyOf(judged: readonly Judged[]): Tally {
  const count = (verdict: Verdict): number =>
    judged.filter((one) => one.verdict === verdict).length;
  const unanswerable = judged.filter(({ question }) => question.isUnanswerable).length;
  return {
    right: count("right"),
    wrong: count("wrong"),
    refused_rightly: count("refused_rightly"),
    refused_wrongly: count("refused_wrongly"),
    failed: count("failed"),
    answerable: judged.length - unanswerable,
    unanswerable,
  };
}

/** `count` of `of`. */
export type Share = { readonly count: number; readonly of: number };

/** @param percent from 0 to 100, with a tolerance: in doubles 16.1 * 1000 is more than 16,100 */
export const isBelowPercent = ({ count, of }: Share, percent: number): boolean =>
  count * 100 < percent * of - 1e-6;

/** The share of answerable questions that were answered right. */
export const rightOf = (judged: readonly Judged[]): Share => {
  const asked = judged.filter(({ question }) => !question.isUnanswerable);
  return { count: asked.filter(({ verdict }) => verdict === "right").length, of: asked.length };
};

/** The share of unanswerable questions that were refused, or whose premise was corrected. */
export const abstainedOf = (judged: readonly Judged[]): Share => {
  const asked = judged.filter(({ question }) => question.isUnanswerable);
  const isGood = ({ verdict }: Judged): boolean =>
    verdict === "refused_rightly" || verdict === "right";
  return { count: asked.filter(isGood).length, of: asked.length };
};

/** The 95 % interval of a share. */
export const wilsonInterval = ({ count, of }: Share): ReturnType<typeof wilson> =>
  wilson(count, of);

/**
 * The probability that two equally good configurations differ at least so much: the exact two-sided sign test over
 * the questions that only one of them got right (McNemar).
 */
export function signTest(onlyFirst: number, onlySecond: number): number {
  const all = onlyFirst + onlySecond;
  let logTerm = -all * Math.LN2;
  let sum = 0;
  for (let k = 0; k <= Math.min(onlyFirst, onlySecond); k += 1) {
    sum += Math.exp(logTerm);
    logTerm += Math.log((all - k) / (k + 1));
  }
  return Math.min(1, 2 * sum);
}
