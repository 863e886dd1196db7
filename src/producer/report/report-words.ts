import type { Change } from "../../shared/db/jobs/compare-batches.ts";
import type { TroubleRow } from "../../shared/db/jobs/report-rows.ts";
import { FINAL_STATES } from "../../shared/job.ts";
import { describeCounts, describeState, doneOf } from "../print/describe-batch.ts";
import { heldMs } from "../print/describe-past-holds.ts";
import { countOf, formatCount, formatDuration, formatTime } from "../print/quantity.ts";
import type { Report } from "./gather-report.ts";
import { heldMsBetween } from "./holds-of.ts";

/** What both forms of a report say in the same words. */
export type Fact = readonly [label: string, value: string];

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

export function describeTokens(costs: Report["costs"]): string {
  const prompt = sum(costs.map(({ prompt_tokens }) => prompt_tokens));
  const completion = sum(costs.map(({ completion_tokens }) => completion_tokens));
  return prompt + completion === 0
    ? "none: no language model was called"
    : `${formatCount(prompt)} read, ${formatCount(completion)} written`;
}

export const sum = (values: readonly number[]): number =>
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

export const troubleSql = ({ state, error_code }: TroubleRow, report: Report): string =>
  sqlFor(report, "custom_id, error_message", `state = '${state}' and error_code = '${error_code}'`);

/** What runs again what did not succeed. The batch goes by its id, which needs no quotes in any shell. */
export function fixCommands({ batch, troubles }: Report): readonly string[] {
  const isThere = (state: string) => troubles.some((row) => row.state === state);
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

/** Answers in words that the report does not show. */
export function answersLeftOut({ kinds, answers }: Report): number {
  const withWords = kinds.filter(
    ({ kind, state }) => state === "succeeded" && !["index", "command", "embed"].includes(kind),
  );
  return sum(withWords.map(({ jobs }) => jobs)) - answers.length;
}
