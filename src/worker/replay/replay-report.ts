import { canonicalJson } from "../../shared/json-value.ts";
import type { EvidenceSpan } from "../../shared/run-result.ts";
import type { StoredCall } from "../../shared/store/jobs/model-calls.ts";
import type { RunDetail } from "../../shared/views/runs.ts";
import { cleanForTerminal } from "../../shared/styled-text.ts";
import type { RepeatedCall } from "./recorded-calls.ts";
import type { Unrecorded } from "./repeatable-input.ts";
import type { RecordedRun, Repetition } from "./replay-run.ts";

/** What a replay found. */
type ReplayReport = {
  /** The repetition went through the same calls to the same result. */
  readonly same: boolean;
  readonly runId: string;
  readonly jobId: string;
  readonly kind: string;
  /** How the run ended. */
  readonly state: string;
  /** Files that were read again. */
  readonly files: number;
  /** Jobs that a digest tells of, which were looked at again. */
  readonly jobs: number;
  readonly calls: readonly RepeatedCall[];
  readonly callsThen: number;
  /** Why the repetition could not go on; null where it came to an end. */
  readonly stopped: string | null;
  /** The fault in which it ended; null where there was none. */
  readonly broke: string | null;
  readonly differences: readonly Difference[];
};

/** Puts together what a replay found. */
export function reportOf(recorded: RecordedRun, repetition: Repetition): ReplayReport {
  const { run, input, texts, children } = recorded;
  const { end, calls: repeated } = repetition;
  const ordered = usedCalls(recorded);
  const stopped = end.kind === "stopped" ? explainStop(end.at, ordered, repeated) : null;
  const differences = compareRun(recorded, repetition);
  return {
    same: end.kind === "ended" && differences.length === 0 && repeated.length === ordered.length,
    runId: run.run_id,
    jobId: run.job_id,
    kind: input.kind,
    state: run.error_code === null ? run.state : `${run.state} with ${run.error_code}`,
    files: texts.size,
    jobs: children.length,
    calls: repeated,
    callsThen: ordered.length,
    stopped,
    broke: end.kind === "broke" ? `${end.code}: ${end.message}` : null,
    // Where it stopped, all that would have come later is missing, and that is said already.
    differences: stopped === null ? differences : [],
  };
}

/** The same as JSON. */
export const replayJson = (report: ReplayReport): Record<string, unknown> => ({
  ok: report.same,
  run_id: report.runId,
  job_id: report.jobId,
  kind: report.kind,
  state: report.state,
  repeated: {
    same: report.same,
    files: report.files,
    jobs: report.jobs,
    calls_then: report.callsThen,
    calls: report.calls.map(({ pass, template, promptSha256, request }) => ({
      pass,
      prompt_template: template,
      prompt_sha256: promptSha256,
      request,
    })),
    stopped: report.stopped,
    broke: report.broke,
    differences: report.differences,
  },
});

/** One thing that a run left behind, then and in its repetition. */
type Difference = { readonly what: string; readonly then: unknown; readonly now: unknown };

/** The calls that led to the result, in order. An investigation rests on those of all of its runs. */
function usedCalls({ run, calls, investigation }: RecordedRun): readonly StoredCall[] {
  if (investigation !== undefined) return calls;
  const used = run.calls.map(({ request_sha256: request }) => request);
  return used.flatMap((request) => calls.filter(({ requestSha256 }) => requestSha256 === request));
}

/** Calls of tools, of an investigation those of all of its runs; one that was skipped was made again, or not at all. */
const toolCallsThen = ({ run, investigation }: RecordedRun): readonly unknown[] =>
  investigation === undefined
    ? run.tool_calls.map(storedCall)
    : investigation.steps.flatMap(({ tool, state }) =>
        tool === null || state === "skipped"
          ? []
          : [[tool.name, tool.error?.code ?? null, tool.result]],
      );

/** What of the run came out otherwise in its repetition; nothing where it is the same to the letter. */
function compareRun(recorded: RecordedRun, { end, record }: Repetition): readonly Difference[] {
  const { run } = recorded;
  const result = end.kind === "stopped" ? [] : resultPairs(run, end);
  const pairs: readonly Difference[] = [
    ...result,
    {
      what: "tool calls",
      then: toolCallsThen(recorded),
      now: record.toolCalls.map(madeCall),
    },
    { what: "evidence", then: run.evidence.map(storedPiece), now: record.evidence.map(madePiece) },
    { what: "quotes", then: run.quotes.map(storedQuote), now: record.checks.quotes.map(madeQuote) },
    {
      what: "fields",
      then: run.field_bindings.map(storedBinding),
      now: record.bindings.map(madeBinding),
    },
    {
      what: "figures",
      then: run.figures.map(storedFigure),
      now: record.checks.figures.map(madeFigure),
    },
    { what: "claims", then: run.claims.map(storedClaim), now: record.claims.map(madeClaim) },
    {
      what: "parts",
      then: run.summary_parts.map((row) => [
        row.path,
        row.level,
        row.start_char,
        row.end_char,
        row.summary,
      ]),
      now: record.parts.map((made) => [
        made.path,
        made.level,
        made.startChar,
        made.endChar,
        made.summary,
      ]),
    },
  ];
  return pairs.filter(({ then, now }) => !sameJson(then, now));
}

/** State, code, answer, scope, citations, and the fields or the counts of a digest. */
function resultPairs(
  run: RunDetail,
  end: Exclude<Repetition["end"], { kind: "stopped" }>,
): readonly Difference[] {
  const state = end.kind === "broke" ? "failed" : end.outcome.kind;
  const code = end.kind === "broke" ? end.code : "code" in end.outcome ? end.outcome.code : null;
  const answer = end.kind === "ended" && end.outcome.kind === "succeeded" ? end.outcome : null;
  return [
    { what: "state", then: run.state, now: state },
    { what: "code", then: run.error_code, now: code },
    { what: "answer", then: run.answer, now: answer?.answer ?? null },
    { what: "scope", then: run.scope, now: answer?.scope ?? null },
    { what: "citations", then: run.citations, now: answer?.citations ?? [] },
    { what: "summary", then: run.summary, now: answer?.summary ?? null },
  ];
}

type Made = Repetition["record"];

const storedCall = (row: RunDetail["tool_calls"][number]) => [row.name, row.error_code, row.result];
const madeCall = (made: Made["toolCalls"][number]) => [made.name, made.errorCode, made.result];

const storedPiece = (row: RunDetail["evidence"][number]) => [
  row.kind,
  row.path,
  row.sha256,
  row.text_sha256,
  row.start_char,
  row.end_char,
  row.rejected_reason,
];
const madePiece = (made: Made["evidence"][number]) => [
  made.kind,
  made.path,
  made.sha256,
  made.textSha256,
  made.startChar,
  made.endChar,
  made.rejectedReason,
];

const storedQuote = (row: RunDetail["quotes"][number]) => [
  row.quote,
  row.class,
  ...storedSpan(row),
];
const madeQuote = (made: Made["checks"]["quotes"][number]) => [
  made.quote,
  made.class,
  ...madeSpan(made.span),
];

const storedBinding = (row: RunDetail["field_bindings"][number]) => [
  row.pointer,
  row.value,
  row.state,
  row.reason,
  row.quote,
  ...storedSpan(row),
];
const madeBinding = (made: Made["bindings"][number]) => [
  made.pointer,
  made.value,
  made.state,
  made.reason,
  made.quote,
  ...madeSpan(made.span),
];

const storedFigure = (row: RunDetail["figures"][number]) => [
  row.kind,
  row.figure,
  row.stands_in,
  row.flagged,
  ...storedSpan(row),
];
const madeFigure = (made: Made["checks"]["figures"][number]) => [
  made.kind,
  made.text,
  made.standsIn,
  made.flagged,
  ...madeSpan(made.span),
];

const storedClaim = (row: RunDetail["claims"][number]) => [
  ...[row.draft, row.text, row.grade, row.reason, row.fate, row.stands, row.arithmetic],
  ...storedSpan(row),
];
const madeClaim = (made: Made["claims"][number]) => [
  ...[made.draft, made.text, made.grade, made.reason, made.fate, made.stands, made.arithmetic],
  ...madeSpan(made.span),
];

type StoredSpan = Pick<RunDetail["claims"][number], "number" | "path" | "start_char" | "end_char">;

const storedSpan = ({ number, path, start_char: start, end_char: end }: StoredSpan) => [
  number,
  path,
  start,
  end,
];
const madeSpan = (span: EvidenceSpan | null) => [
  span?.number ?? null,
  span?.path ?? null,
  span?.startChar ?? null,
  span?.endChar ?? null,
];

/** The report for people: what was repeated, and what came of it. */
export const formatReplay = (report: ReplayReport): readonly string[] =>
  linesOf(report).map((line) => cleanForTerminal(line.replace(/[\r\n]+/g, " ↵ ")));

const linesOf = (report: ReplayReport): readonly string[] => [
  `run       ${report.runId}  ${report.kind}, ${report.state}`,
  `job       ${report.jobId}`,
  `files     ${report.files === 0 ? "none" : `${report.files} read again, unchanged`}`,
  ...(report.jobs === 0 ? [] : [`jobs      ${report.jobs} told of, unchanged`]),
  `calls     ${formatCalls(report)}`,
  `result    ${formatResult(report)}`,
  ...report.differences.flatMap(({ what, then, now }) => [
    `  ${what}`,
    `    then  ${shorten(then)}`,
    `    now   ${shorten(now)}`,
  ]),
];

function formatCalls({ calls, callsThen }: ReplayReport): string {
  if (callsThen === 0 && calls.length === 0) return "none were made";
  const others = calls.filter(({ request }) => request === "differs").length;
  const requests =
    others === 0
      ? "the same prompts to the letter, answered from the record"
      : `the same prompts, ${others} of them with other options or another budget`;
  return `${calls.length} of ${callsThen} repeated: ${requests}`;
}

function formatResult({ stopped, broke, differences }: ReplayReport): string {
  if (stopped !== null) return `not reached: ${stopped}`;
  if (broke !== null) return `it breaks now: ${broke}`;
  if (differences.length === 0)
    return "the same: state, answer, scope, citations, evidence, checks";
  return `differs in ${differences.map(({ what }) => what).join(", ")}`;
}

const MOST_CHARS = 400;

function shorten(value: unknown): string {
  const text = typeof value === "string" ? value.replace(/\s+/g, " ") : JSON.stringify(value);
  return text.length <= MOST_CHARS ? text : `${text.slice(0, MOST_CHARS)}…`;
}

/**
 * Says why a repetition could not go on: how the prompt that it came to differs from the run's own.
 * @param calls those of the run, in order
 * @param repeated those that were repeated before
 */
export function explainStop(
  at: Unrecorded,
  calls: readonly StoredCall[],
  repeated: readonly RepeatedCall[],
): string {
  if (at.kind === "read") return `it would read ${at.path} now, which the run did not read`;
  if (at.kind === "output") {
    return `what step ${at.step}, a call of ${at.name}, gave was removed since (runs.keep_outputs_days)`;
  }
  if (at.kind === "tool") return `it would call ${at.name} now, as the run did not`;
  const template = at.prompt.template;
  const then = calls[repeated.length];
  if (then === undefined) {
    return `it would make one call more now, number ${repeated.length + 1}, pass ${at.pass} by ${template}`;
  }
  const differs = [
    ...changedTemplate(then.prompt.template, template),
    ...changedValues(then.prompt.values, at.prompt.values),
    ...changedEvidence(then.prompt.evidence, at.prompt.evidence),
    ...(sameJson(then.prompt.violations, at.prompt.violations)
      ? []
      : [`it corrects ${listed(at.prompt.violations)}, then ${listed(then.prompt.violations)}`]),
  ];
  const what =
    differs.length === 0
      ? "the same parts give other words: the template was changed, or the evidence is shown in another way"
      : differs.join("; ");
  return `the prompt of call ${repeated.length + 1}, pass ${at.pass}, is another now: ${what}`;
}

const changedTemplate = (then: string, now: string): readonly string[] =>
  then === now ? [] : [`template ${then} then, ${now} now`];

function changedValues(
  then: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): readonly string[] {
  const keys = [...new Set([...Object.keys(then), ...Object.keys(now)])];
  const changed = keys.filter((key) => then[key] !== now[key]);
  return changed.length === 0 ? [] : [`it says other ${listed(changed)}`];
}

function changedEvidence(then: readonly unknown[], now: readonly unknown[]): readonly string[] {
  if (sameJson(then, now)) return [];
  return then.length === now.length
    ? ["it shows other spans of the evidence"]
    : [`it shows ${now.length} pieces of evidence, then ${then.length}`];
}

const listed = (names: readonly string[]): string =>
  names.length === 0 ? "nothing" : names.join(", ");

/** Whether two values are the same JSON, in whatever order their keys stand. */
const sameJson = (one: unknown, other: unknown): boolean =>
  canonicalJson(one) === canonicalJson(other);
