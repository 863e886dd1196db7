import { FINAL_STATES } from "../job/job.ts";
import type { PastHold } from "../store/jobs/holds.ts";
import { formatCounts, formatStateOn, doneOf, heldMs } from "./batch-words.ts";
import { gradesText, leftOutText } from "./claims.ts";
import type { GradeCounts } from "./claims.ts";
import { countOf, formatCount, formatDuration } from "./quantity.ts";
import type { Report } from "./report-rows.ts";
import { duration, fact, time } from "./section.ts";
import type { Count, Fact } from "./section.ts";

/** One sentence on the results of a batch. */
export function headline({ batch }: Pick<Report, "batch">): string {
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

/** Counts by state: succeeded, refused and failed always, others only above zero. */
export function countsOf({ batch }: Report): readonly Count[] {
  const counts = [
    ...FINAL_STATES.map((name) => ({ name, jobs: batch.counts[name] })),
    { name: "waiting", jobs: batch.total - doneOf(batch) },
  ];
  return counts.filter(({ jobs }, index) => index < 3 || jobs > 0);
}

/** The facts of a batch: its times, its limits and its counts. */
export function factsOf({ batch, times, holds, costs, grades, zone }: Report): readonly Fact[] {
  const { started_at: began, ended_at: ended, windows, deadline_at: deadline } = times;
  const lastEnded = batch.finishedAt === null ? "Last job that ended" : "Last job ended";
  return [
    fact("State", formatStateOn(batch, zone)),
    fact("Jobs", `${formatCount(batch.total)}: ${formatCounts(batch)}`),
    fact("Queued", time(batch.createdAt)),
    ...(began === null ? [] : [fact("First job began", time(began))]),
    ...(ended === null ? [] : [fact(lastEnded, time(ended))]),
    ...(began === null || ended === null
      ? []
      : [fact("Took", formatTime({ began, ended }, holds))]),
    ...(holds.length === 0 ? [] : [fact("Stood still", duration(heldMs(holds)))]),
    ...(windows === null || windows.length === 0 ? [] : [fact("Windows", windows.join(", "))]),
    ...(deadline === null ? [] : [fact("Deadline", time(deadline))]),
    fact("Tokens", formatTokens(costs)),
    ...gradeFacts(grades),
    ...(times.reused === 0
      ? []
      : [fact("Taken over from earlier runs", countOf(times.reused, "result"))]),
    ...(times.repeats === 0 ? [] : [fact("Repeated after a fault", countOf(times.repeats, "run"))]),
  ];
}

/** Answers by grade, and the statements that were left out of them. */
function gradeFacts(grades: GradeCounts): readonly Fact[] {
  const graded = gradesText(grades);
  const leftOut = leftOutText(grades);
  return [
    ...(graded === "" ? [] : [fact("Answers by their evidence", graded)]),
    ...(leftOut === null ? [] : [fact("Left out", leftOut)]),
  ];
}

/** `9 h 0 min, 1 h 30 min of it held`. */
function formatTime(
  { began, ended }: { readonly began: Date; readonly ended: Date },
  holds: Report["holds"],
): string {
  const held = heldMsBetween(holds, began, ended);
  const took = formatDuration(ended.getTime() - began.getTime());
  return held === 0 ? took : `${took}, ${formatDuration(held)} of it held`;
}

function formatTokens(costs: Report["costs"]): string {
  const prompt = sum(costs.map(({ prompt_tokens }) => prompt_tokens));
  const completion = sum(costs.map(({ completion_tokens }) => completion_tokens));
  return prompt + completion === 0
    ? "none: no language model was called"
    : `${formatCount(prompt)} read, ${formatCount(completion)} written`;
}

export const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

/**
 * Milliseconds for which a batch was held between two times. A recurring hold counts at most the part of its span that lies
 * between them.
 */
export const heldMsBetween = (holds: readonly PastHold[], from: Date, to: Date): number =>
  holds.reduce((total, { began_at: began, ended_at: ended, held_ms: held }) => {
    const start = Math.max(began.getTime(), from.getTime());
    const end = Math.min(ended?.getTime() ?? Infinity, to.getTime());
    return total + Math.min(held, Math.max(0, end - start));
  }, 0);
