import { cleanForTerminal } from "../../shared/styled-text.ts";
import type { Prospect } from "./prospect.ts";
import type { Report } from "./replay-report.ts";

/** The report for people: what was repeated and what came of it, then what would differ now. */
export const describeReplay = (report: Report): readonly string[] =>
  linesOf(report).map((line) => cleanForTerminal(line.replace(/[\r\n]+/g, " ↵ ")));

const linesOf = (report: Report): readonly string[] => [
  `run       ${report.runId}  ${report.kind}, ${report.state}`,
  `job       ${report.jobId}`,
  `files     ${report.files === 0 ? "none" : `${report.files} read again, unchanged`}`,
  ...(report.jobs === 0 ? [] : [`jobs      ${report.jobs} told of, unchanged`]),
  `calls     ${describeCalls(report)}`,
  `result    ${describeResult(report)}`,
  ...report.differences.flatMap(({ what, then, now }) => [
    `  ${what}`,
    `    then  ${shorten(then)}`,
    `    now   ${shorten(now)}`,
  ]),
  "",
  "If the job ran again now",
  ...report.now.map(describeProspect),
];

function describeCalls({ calls, callsThen }: Report): string {
  if (callsThen === 0 && calls.length === 0) return "none were made";
  const others = calls.filter(({ request }) => request === "differs").length;
  const requests =
    others === 0
      ? "the same prompts to the letter, answered from the record"
      : `the same prompts, ${others} of them with other options or another budget`;
  return `${calls.length} of ${callsThen} repeated: ${requests}`;
}

function describeResult({ stopped, broke, differences }: Report): string {
  if (stopped !== null) return `not reached: ${stopped}`;
  if (broke !== null) return `it breaks now: ${broke}`;
  if (differences.length === 0)
    return "the same: state, answer, scope, citations, evidence, checks";
  return `differs in ${differences.map(({ what }) => what).join(", ")}`;
}

const MARKS = { same: "=", differs: "≠", unknown: "?" } as const;

const describeProspect = ({ what, verdict, words }: Prospect): string =>
  `  ${MARKS[verdict]} ${what}: ${words}`;

const MOST_CHARS = 400;

function shorten(value: unknown): string {
  const text = typeof value === "string" ? value.replace(/\s+/g, " ") : JSON.stringify(value);
  return text.length <= MOST_CHARS ? text : `${text.slice(0, MOST_CHARS)}…`;
}
