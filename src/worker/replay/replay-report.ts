import { canonicalJson } from "../../shared/schema/json-value.ts";
import type { EvidenceSpan } from "../../shared/job/run-result.ts";
import { camelName } from "../../shared/store/connection/rows.ts";
import type { Camel } from "../../shared/store/connection/rows.ts";
import type { StoredCall } from "../../shared/store/jobs/model-calls.ts";
import type { RunDetail } from "../../shared/views/runs.ts";
import { cleanForTerminal } from "../../shared/terminal/styled-text.ts";
import type { RepeatedCall, Unrecorded } from "./recorded-calls.ts";
import type { RecordedRun, Repetition } from "./replay-run.ts";

/** The result of a replay, as `--json` prints it. */
type ReplayReport = {
  /** Whether the repetition made the same calls with the same result. */
  readonly ok: boolean;
  readonly run_id: string;
  readonly job_id: string;
  readonly kind: string;
  /** The state in which the run ended. */
  readonly state: string;
  readonly repeated: {
    readonly same: boolean;
    /** Files that were read again. */
    readonly files: number;
    /** Jobs of a digest whose answers were compared again. */
    readonly jobs: number;
    readonly calls_then: number;
    readonly calls: readonly RepeatedCall[];
    /** The reason why the repetition could not continue; null if it ended. */
    readonly stopped: string | null;
    /** The fault that ended the repetition; null if there was none. */
    readonly broke: string | null;
    readonly differences: readonly Difference[];
  };
};

/** Builds the report of a replay. */
export function reportOf(recorded: RecordedRun, repetition: Repetition): ReplayReport {
  const { run, input, texts, children } = recorded;
  const { end, calls } = repetition;
  const ordered = usedCalls(recorded);
  const stopped = end.kind === "stopped" ? explainStop(end.at, ordered, calls) : null;
  const differences = compareRun(recorded, repetition);
  const same = end.kind === "ended" && differences.length === 0 && calls.length === ordered.length;
  return {
    ok: same,
    run_id: run.run_id,
    job_id: run.job_id,
    kind: input.kind,
    state: run.error_code === null ? run.state : `${run.state} with ${run.error_code}`,
    repeated: {
      ...{ same, files: texts.size, jobs: children.length, calls_then: ordered.length, calls },
      stopped,
      broke: end.kind === "broke" ? `${end.code}: ${end.message}` : null,
      // After a stop everything later is missing, which the reason already says.
      differences: stopped === null ? differences : [],
    },
  };
}

/** A part of the run's result, then and in its repetition. */
type Difference = { readonly what: string; readonly then: unknown; readonly now: unknown };

/**
 * The calls that led to the result, in order. An investigation rests on the calls of all of its runs. Calls of a judge are left
 * out: its verdicts are recorded with the statements, and a replay does not call it.
 */
function usedCalls({ run, calls, investigation }: RecordedRun): readonly StoredCall[] {
  if (investigation !== undefined) return calls.filter(({ pass }) => pass !== "grade");
  const used = run.calls.flatMap(({ pass, request_sha256: request }) =>
    pass === "grade" ? [] : [request],
  );
  return used.flatMap((request) => calls.filter(({ requestSha256 }) => requestSha256 === request));
}

/** The differences between the run and its repetition; empty if they are identical. */
function compareRun(recorded: RecordedRun, { end, record }: Repetition): readonly Difference[] {
  const { run } = recorded;
  const { quotes, figures } = record.checks;
  const pairs: readonly Difference[] = [
    ...(end.kind === "stopped" ? [] : resultPairs(run, end)),
    rowPair("tool calls", toolCallsThen(recorded), record.toolCalls, [
      "name",
      "error_code",
      "result",
    ]),
    rowPair("evidence", run.evidence, record.evidence, [
      ...(["kind", "path", "sha256", "text_sha256"] as const),
      ...(["start_char", "end_char", "rejected_reason"] as const),
    ]),
    rowPair("quotes", run.quotes, quotes.map(withSpan), ["quote", "class", ...SPAN]),
    rowPair("fields", run.field_bindings, record.bindings.map(withSpan), [
      ...(["pointer", "value", "state", "reason", "grade", "quote", ...SPAN] as const),
    ]),
    rowPair(
      "figures",
      run.figures,
      figures.map((made) => ({ ...withSpan(made), figure: made.text })),
      ["kind", "figure", "stands_in", "flagged", ...SPAN],
    ),
    rowPair("claims", run.claims, record.claims.map(withSpan), [
      ...(["draft", "text", "grade", "reason", "fate", "stands", "arithmetic", ...SPAN] as const),
    ]),
    rowPair("parts", run.summary_parts, record.parts, [
      ...(["path", "level", "start_char", "end_char", "summary"] as const),
    ]),
  ];
  return pairs.filter(({ then, now }) => !sameJson(then, now));
}

/** The calls of tools; for an investigation those of all its runs. A skipped call was made again, or not at all. */
const toolCallsThen = ({
  run,
  investigation,
}: RecordedRun): readonly Pick<
  RunDetail["tool_calls"][number],
  "name" | "error_code" | "result"
>[] =>
  investigation === undefined
    ? run.tool_calls
    : investigation.steps.flatMap(({ tool, state }) =>
        tool === null || state === "skipped"
          ? []
          : [{ name: tool.name, error_code: tool.error?.code ?? null, result: tool.result }],
      );

/** Compares rows with the results of a repetition, only in these columns. */
function rowPair<Column extends string>(
  what: string,
  then: readonly Readonly<Record<Column, unknown>>[],
  now: readonly Readonly<Record<Camel<Column>, unknown>>[],
  columns: readonly Column[],
): Difference {
  return {
    what,
    then: then.map((row) => columns.map((column) => row[column])),
    now: now.map((made) => columns.map((column): unknown => Reflect.get(made, camelName(column)))),
  };
}

const SPAN = ["number", "path", "start_char", "end_char"] as const;
const NO_SPAN = { number: null, path: null, startChar: null, endChar: null };

/** Adds the columns of its place, as its row has them. */
const withSpan = <Made extends { readonly span: EvidenceSpan | null }>(made: Made) => ({
  ...made,
  ...(made.span ?? NO_SPAN),
});

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

/** The report for people: what was repeated, and the result. */
export const formatReplay = (report: ReplayReport): readonly string[] =>
  linesOf(report).map((line) => cleanForTerminal(line.replace(/[\r\n]+/g, " ↵ ")));

const linesOf = ({ repeated, ...run }: ReplayReport): readonly string[] => [
  `run       ${run.run_id}  ${run.kind}, ${run.state}`,
  `job       ${run.job_id}`,
  `files     ${repeated.files === 0 ? "none" : `${repeated.files} read again, unchanged`}`,
  ...(repeated.jobs === 0 ? [] : [`jobs      ${repeated.jobs} told of, unchanged`]),
  `calls     ${formatCalls(repeated)}`,
  `result    ${formatResult(repeated)}`,
  ...repeated.differences.flatMap(({ what, then, now }) => [
    `  ${what}`,
    `    then  ${shorten(then)}`,
    `    now   ${shorten(now)}`,
  ]),
];

function formatCalls({ calls, calls_then: then }: ReplayReport["repeated"]): string {
  if (then === 0 && calls.length === 0) return "none were made";
  const others = calls.filter(({ request }) => request === "differs").length;
  const requests =
    others === 0
      ? "the same prompts to the letter, answered from the record"
      : `the same prompts, ${others} of them with other options or another budget`;
  return `${calls.length} of ${then} repeated: ${requests}`;
}

function formatResult({ stopped, broke, differences }: ReplayReport["repeated"]): string {
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
 * Explains why a repetition could not continue: how the prompt of its next call differs from the run's own.
 * @param calls the calls of the run, in order
 * @param repeated the calls that were repeated before
 */
export function explainStop(
  at: Unrecorded,
  calls: readonly StoredCall[],
  repeated: readonly RepeatedCall[],
): string {
  if (at.kind === "read") return `it would read ${at.path} now, which the run did not read`;
  if (at.kind === "output") {
    return `the result of step ${at.step}, a call of ${at.name}, has been removed since (runs.keep_outputs_days)`;
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
      : [
          `it corrects ${listNames(at.prompt.violations)}, then ${listNames(then.prompt.violations)}`,
        ]),
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
  return changed.length === 0 ? [] : [`it says other ${listNames(changed)}`];
}

function changedEvidence(then: readonly unknown[], now: readonly unknown[]): readonly string[] {
  if (sameJson(then, now)) return [];
  return then.length === now.length
    ? ["it shows other spans of the evidence"]
    : [`it shows ${now.length} pieces of evidence, then ${then.length}`];
}

const listNames = (names: readonly string[]): string =>
  names.length === 0 ? "nothing" : names.join(", ");

/** Whether two values are the same JSON, regardless of the order of keys. */
const sameJson = (one: unknown, other: unknown): boolean =>
  canonicalJson(one) === canonicalJson(other);
