import type { BatchProgress } from "../../shared/db/jobs/read-batches.ts";
import { describeCounts, describeState, doneOf } from "../print/describe-batch.ts";
import { formatCount, formatDuration } from "../print/quantity.ts";
import type { BatchWork } from "./work-reader.ts";

const BAR_WIDTH = 20;
const WINDOW_MS = 30_000;

export type BatchMeter = {
  /**
   * One line on how far the batch is: jobs and tokens a second, and the time left. What matters most comes first: a
   * narrow terminal cuts the end.
   * @param work what is left by size and how fast it goes; without it the time left is told from the number of jobs
   */
  read(batch: BatchProgress, work?: BatchWork): string;
};

/** @param now monotonic clock, milliseconds */
export function createBatchMeter(
  now: () => number = performance.now.bind(performance),
): BatchMeter {
  let seen: { readonly done: number; readonly at: number }[] = [];
  return {
    read(batch, work) {
      const done = doneOf(batch);
      const at = now();
      // While nothing was done yet, as before a worker is there, the clock of the rate stands still.
      const hasBegun = seen.some((earlier) => earlier.done < done);
      seen = hasBegun ? seen.filter((earlier) => at - earlier.at < WINDOW_MS) : [];
      seen.push({ done, at });
      const [first = { done, at }] = seen;
      const jobsPerSecond = (done - first.done) / Math.max(0.001, (at - first.at) / 1_000);
      return [
        `${drawBar(done, batch.total)} ${formatCount(done)}/${formatCount(batch.total)}`,
        ...(batch.holdReason === null ? [] : [describeState(batch)]),
        ...(jobsPerSecond > 0 ? [`${formatRate(jobsPerSecond)} jobs/s`] : []),
        ...describeTokens(work),
        ...describeLeft(batch, jobsPerSecond, work),
        describeCounts(batch),
      ].join(" · ");
    },
  };
}

function drawBar(done: number, total: number): string {
  const filled = total === 0 ? 0 : Math.floor((done / total) * BAR_WIDTH);
  return `[${"#".repeat(filled)}${"-".repeat(BAR_WIDTH - filled)}]`;
}

const formatRate = (perSecond: number): string =>
  perSecond < 10 ? perSecond.toFixed(1) : formatCount(perSecond);

function describeTokens(work: BatchWork | undefined): readonly string[] {
  if (work === undefined || work.pace.tokens === 0 || work.pace.seconds === 0) return [];
  return [`${formatRate(work.pace.tokens / work.pace.seconds)} tokens/s`];
}

/** Nothing for a batch that stands still or is held: it would be a guess. */
function describeLeft(
  batch: BatchProgress,
  jobsPerSecond: number,
  work: BatchWork | undefined,
): readonly string[] {
  const jobs = batch.total - doneOf(batch);
  if (jobs === 0 || batch.holdReason !== null) return [];
  const seconds = secondsLeft(work) ?? (jobsPerSecond > 0 ? jobs / jobsPerSecond : undefined);
  return seconds === undefined ? [] : [`${formatDuration(seconds * 1_000)} left`];
}

function secondsLeft(work: BatchWork | undefined): number | undefined {
  if (work === undefined || work.pace.work === 0 || work.pace.seconds === 0) return undefined;
  return work.left / (work.pace.work / work.pace.seconds);
}
