import { describeTask } from "../../shared/kinds.ts";
import type { Change } from "../../shared/views/compare-batches.ts";
import type { CostRow, KindRow, FailureGroupRow } from "../../shared/views/report-rows.ts";
import { CODES } from "../../shared/failure.ts";
import type { ErrorCode } from "../../shared/failure.ts";
import { FINAL_STATES } from "../../shared/job.ts";
import { describeCounts, describeState, doneOf, heldMs } from "../print/batch.ts";
import { countOf, formatCount, formatDuration, formatTime } from "../../shared/views/quantity.ts";
import { heldMsBetween } from "./gather-report.ts";
import type { Report } from "./gather-report.ts";

/** What both forms of a report say in the same words. */
type Fact = readonly [label: string, value: string];

/** One sentence on what the night came to. */
export function headline({ batch }: Report): string {
  const { total, counts } = batch;
  const done = doneOf(batch);
  const ended = done === total ? "" : ` ${formatCount(total - done)} have not ended yet.`;
  if (total === 0) return "There was nothing to do.";
  if (counts.succeeded === total) return `All ${countOf(total, "job")} succeeded.`;
  const others = FINAL_STATES.filter((state) => state !== "succeeded" && counts[state] > 0).map(
    (state) => `${formatCount(counts[state])} ${state}`,
  );
  const rest = others.length === 0 ? "" : `; ${others.join(", ")}`;
  return `${formatCount(counts.succeeded)} of ${countOf(total, "job")} succeeded${rest}.${ended}`;
}

/** When it was, how long it took, and what it was allowed. */
export function factsOf({ batch, times, holds, costs }: Report): readonly Fact[] {
  const { started_at: began, ended_at: ended, windows, deadline_at: deadline } = times;
  const isOver = batch.finishedAt !== null;
  return [
    ["State", describeState(batch)],
    ["Jobs", `${formatCount(batch.total)}: ${describeCounts(batch)}`],
    ["Queued", formatTime(batch.createdAt)],
    ...(began === null ? [] : [["First job began", formatTime(began)] as const]),
    ...(ended === null
      ? []
      : [[isOver ? "Last job ended" : "Last job that ended", formatTime(ended)] as const]),
    ...(began === null || ended === null
      ? []
      : [["Took", describeTime({ began, ended }, holds)] as const]),
    ...(holds.length === 0 ? [] : [["Stood still", formatDuration(heldMs(holds))] as const]),
    ...(windows === null || windows.length === 0 ? [] : [["Windows", windows.join(", ")] as const]),
    ...(deadline === null ? [] : [["Deadline", formatTime(deadline)] as const]),
    ["Tokens", describeTokens(costs)],
    ...(times.reused === 0
      ? []
      : [["Taken over from earlier runs", countOf(times.reused, "result")] as const]),
    ...(times.repeats === 0
      ? []
      : [["Repeated after a fault", countOf(times.repeats, "run")] as const]),
  ];
}

/** `9 h 0 min, 1 h 30 min of it held`. */
function describeTime(
  { began, ended }: { readonly began: Date; readonly ended: Date },
  holds: Report["holds"],
): string {
  const held = heldMsBetween(holds, began, ended);
  const took = formatDuration(ended.getTime() - began.getTime());
  return held === 0 ? took : `${took}, ${formatDuration(held)} of it held`;
}

function describeTokens(costs: Report["costs"]): string {
  const prompt = sum(costs.map(({ prompt_tokens }) => prompt_tokens));
  const completion = sum(costs.map(({ completion_tokens }) => completion_tokens));
  return prompt + completion === 0
    ? "none: no language model was called"
    : `${formatCount(prompt)} read, ${formatCount(completion)} written`;
}

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

/** Titles of what changed, in the order of the page. */
export const CHANGE_TITLES: Readonly<Record<Exclude<Change, "same" | "open">, string>> = {
  broken: "Succeeded before, and not now",
  fixed: "Succeeded now, and not before",
  changed: "Another answer than before",
  new: "New",
  gone: "Not in this batch any more",
};

/** Statements for `nightdesk sql`, for what a report leaves out. */
const sqlFor = ({ batch }: Report, columns: string, where: string): string =>
  `select ${columns} from results where batch_id = '${batch.batchId}' and ${where} order by created_at, custom_id`;

export const answersSql = (report: Report): string =>
  sqlFor(report, "custom_id, answer", "state = 'succeeded'");

export const holdsSql = ({ batch }: Report): string =>
  `select * from batch_holds where batch_id = '${batch.batchId}' order by began_at`;

export const troubleSql = ({ state, error_code }: FailureGroupRow, report: Report): string =>
  sqlFor(report, "custom_id, error_message", `state = '${state}' and error_code = '${error_code}'`);

/** What runs again what did not succeed. The batch goes by its id, which needs no quotes in any shell. */
export function fixCommands({ batch, failureGroups }: Report): readonly string[] {
  const isThere = (state: string) => failureGroups.some((row) => row.state === state);
  return [
    ...(isThere("failed") || isThere("expired") ? [`nightdesk batch retry ${batch.batchId}`] : []),
    ...(isThere("parked") ? ["nightdesk doctor"] : []),
    `nightdesk batch show ${batch.batchId}`,
  ];
}

/** An answer without its footer, which is shown apart, and whether it was cut. */
export function answerText(answer: Report["answers"][number]): {
  readonly text: string;
  readonly isCut: boolean;
} {
  const { answer: text, scope, is_cut: isCut } = answer;
  if (text === null) return { text: "", isCut };
  const isWhole = !isCut && scope !== null && text.endsWith(scope);
  return { text: (isWhole ? text.slice(0, -scope.length) : text).trim(), isCut };
}

const MOST_COPIES = 20;

/** Where else a document lies whose answer is listed once: `Also in: b.eml, c.eml`; nothing where there are no copies. */
export function alsoIn(copies: Report["answers"]): string {
  if (copies.length === 0) return "";
  const named = copies.slice(0, MOST_COPIES).map(({ custom_id: id, kind, input }) => {
    const path = describeTask(kind, input);
    return path === id ? path : `${path} (${id})`;
  });
  const more = copies.length - named.length;
  return `Also in: ${named.join(", ")}${more > 0 ? `, and ${formatCount(more)} more` : ""}`;
}

/** Answers in words that the report does not show. */
export function answersLeftOut({ kinds, answers }: Report): number {
  const withWords = kinds.filter(
    ({ kind, state }) => state === "succeeded" && !["index", "command", "embed"].includes(kind),
  );
  return sum(withWords.map(({ jobs }) => jobs)) - answers.length;
}

/** Codes that a job can end with, or be parked with. */
type JobCode = {
  [C in ErrorCode]: (typeof CODES)[C]["outcome"] extends "command" ? never : C;
}[ErrorCode];

/** What somebody can do about each code, beside running the job again. */
const REMEDIES: Readonly<Record<JobCode, string>> = {
  PATH_DENIED: "Name a file below security.allowed_roots, or add its folder there.",
  FILE_NOT_FOUND: "Correct the path; nightdesk query finds files by their words.",
  AMBIGUOUS_PATH: "Give the whole path from the work root.",
  PATH_IS_DIRECTORY: "Name a file, or a glob such as 'notes/**/*.md'.",
  FILE_READ_ERROR: "Save the file as UTF-8 text, and check who may read it.",
  FILE_EMPTY:
    "Nothing to do, unless the file should hold text; a scan needs its text recognised first.",
  FILE_TOO_LARGE: "Split the file, or raise security.max_file_bytes.",
  INVALID_ARGS: "Try a stronger model: this one writes tool calls that can't be read.",
  EVIDENCE_NOT_ACQUIRED: "Index what should answer it, or name the file in the question.",
  EVIDENCE_INVALID: "Run it again: the file changed while it was read.",
  EVIDENCE_TRUNCATED: "Raise ask.max_chars_full_read, or model.num_ctx.",
  UNEXPECTED_TOOL_CALL_SECOND_PASS: "Try a stronger model for the answer: model.big.",
  SECOND_PASS_FORMAT_VIOLATION: "Try a stronger model for the answer: model.big.",
  CITATION_INVALID: "Try a stronger model for the answer, or ask more narrowly.",
  ANSWER_UNSUPPORTED: "The documents don't say it. Add what does, or ask something else.",
  CONTEXT_OVERFLOW: "Raise model.num_ctx, or lower ask.top_n.",
  MODEL_UNSUPPORTED: "Name a model that can do this kind of job in model.name.",
  MODEL_NOT_FOUND: "Pull the model on its host, or correct model.name.",
  MODEL_OUTPUT_INVALID: "Look at the run: nightdesk runs show. A larger max_tokens may do.",
  RESULT_UNSTORABLE: "Lower model.max_tokens, or split the job into smaller ones.",
  EMBED_MODEL_MISSING: "Fetch the embedder's files: nightdesk models fetch.",
  EMBED_DRIFT: "Make the vectors again: nightdesk embed --rebuild.",
  MEMORY_ERROR: "Look at nightdesk doctor.",
  MODEL_TIMEOUT: "Raise model.timeout_s, or give the host less to do at once.",
  TOOL_ERROR: "Look at the run: nightdesk runs show.",
  INTERNAL_ERROR:
    "Look at the run: nightdesk runs show. It is a fault of Nightdesk; please report it.",
  WORKER_LOST: "Look at the machine's memory: the worker died with this job in hand.",
  MODEL_UNREACHABLE: "Start the model host; the jobs go on by themselves.",
  MODEL_OVERLOADED: "Nothing to do: the jobs go on by themselves when the host has room.",
  DATABASE_UNREACHABLE: "Check the database; the jobs go on by themselves.",
  QUEUE_UNREACHABLE: "Check the queue; the jobs go on by themselves.",
  CANCELLED: "Nothing to do: somebody cancelled it.",
  DEADLINE_EXCEEDED: "Give the batch more time, or begin earlier.",
  BUDGET_EXCEEDED: "Raise the budget; the batch goes on by itself.",
  COMMAND_FAILED: "Run the command by hand, and look at what it says.",
  DISK_FULL: "Free some space on the disk that the message names; the jobs go on by themselves.",
  DATABASE_READ_ONLY:
    "Let the database take writes again, or name the primary; the jobs go on by themselves.",
  COMMAND_DELAYED: "Nothing to do: it is tried again by itself.",
};

/** What a code means, and what to do about it. */
export function explainCode(code: string): { readonly meaning: string; readonly remedy: string } {
  const known = Object.hasOwn(CODES, code) ? CODES[code as ErrorCode] : undefined;
  const remedy = Object.hasOwn(REMEDIES, code) ? REMEDIES[code as JobCode] : undefined;
  return {
    meaning: known?.meaning ?? "",
    remedy: remedy ?? "Look at the run: nightdesk runs show.",
  };
}

/** What a report of a batch begins with, in both forms: by it a newer report knows the one that it may replace. */
export const reportMarker = (batchId: string): string =>
  `<!-- nightdesk report of batch ${batchId} -->`;

export type CostTotal = {
  readonly name: string;
  readonly runs: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly modelMs: number;
  readonly runMs: number;
};

export const addUp = (name: string, rows: readonly CostRow[]): CostTotal => ({
  name,
  runs: sum(rows.map(({ runs }) => runs)),
  promptTokens: sum(rows.map(({ prompt_tokens }) => prompt_tokens)),
  completionTokens: sum(rows.map(({ completion_tokens }) => completion_tokens)),
  modelMs: sum(rows.map(({ model_ms }) => model_ms)),
  runMs: sum(rows.map(({ run_ms }) => run_ms)),
});

export const modelTotals = (costs: readonly CostRow[]): readonly CostTotal[] =>
  totalsBy(costs, ({ model }) => model ?? "no model");

/** With the number of jobs, which have more than one run where they were repeated. */
export const kindTotals = (
  costs: readonly CostRow[],
  kinds: readonly KindRow[],
): readonly CostTotal[] =>
  totalsBy(costs, ({ kind }) => {
    const jobs = sum(kinds.filter((row) => row.kind === kind).map((row) => row.jobs));
    return `${kind}, ${countOf(jobs, "job")}`;
  });

function totalsBy(
  costs: readonly CostRow[],
  nameOf: (row: CostRow) => string,
): readonly CostTotal[] {
  const groups = new Map<string, CostRow[]>();
  for (const row of costs) {
    const name = nameOf(row);
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return [...groups].map(([name, rows]) => addUp(name, rows));
}
