import type { BatchProgress } from "../../shared/db/jobs/read-batches.ts";
import { describeCounts, describeState, doneOf } from "../print/describe-batch.ts";
import { formatCount } from "../print/quantity.ts";
import { createCountdown } from "./estimate-left.ts";
import type { Countdown } from "./estimate-left.ts";
import type { BatchWork } from "./work-reader.ts";

const BAR_WIDTH = 20;
const WINDOW_MS = 30_000;

export type BatchMeter = {
  /**
   * One line on how far the batch is: jobs and tokens a second, and the time left. What matters most comes first: a
   * narrow terminal cuts the end.
   * @param work what the rest takes; without it no time is told
   */
  read(batch: BatchProgress, work?: BatchWork): string;
};

/** @param now monotonic clock, milliseconds */
export function createBatchMeter(
  now: () => number = performance.now.bind(performance),
): BatchMeter {
  const countdown = createCountdown(now);
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
        ...describeLeft(batch, work, countdown),
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

const describeTokens = (work: BatchWork | undefined): readonly string[] =>
  work === undefined || work.tokensPerSecond === 0
    ? []
    : [`${formatRate(work.tokensPerSecond)} tokens/s`];

/** Nothing for a batch that is held: it would be a guess. */
function describeLeft(
  batch: BatchProgress,
  work: BatchWork | undefined,
  countdown: Countdown,
): readonly string[] {
  const isMoving = batch.holdReason === null && doneOf(batch) < batch.total;
  const seconds = countdown.show(isMoving ? work?.secondsLeft : undefined);
  return seconds === undefined ? [] : [`about ${formatEstimate(seconds)} left`];
}

/** In steps as coarse as the knowledge: `40 s`, `7 min`, `2 h 10 min`. */
function formatEstimate(seconds: number): string {
  if (seconds < 55) return `${Math.max(5, Math.round(seconds / 5) * 5)} s`;
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min`;
  const tens = Math.round(seconds / 600);
  return `${Math.floor(tens / 6)} h ${(tens % 6) * 10} min`;
}
