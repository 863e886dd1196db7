import type { BatchProgress } from "../../shared/db/jobs/read-batches.ts";
import { describeCounts, describeState, doneOf } from "../print/describe-batch.ts";
import { formatCount, formatDuration } from "../print/quantity.ts";

const BAR_WIDTH = 20;
const WINDOW_MS = 30_000;

export type BatchMeter = {
  /**
   * One line on how far the batch is, with the rate of the last half minute and the time left at it. What matters
   * most comes first: a narrow terminal cuts the end.
   */
  read(batch: BatchProgress): string;
};

/** @param now monotonic clock, milliseconds */
export function createBatchMeter(
  now: () => number = performance.now.bind(performance),
): BatchMeter {
  let seen: { readonly done: number; readonly at: number }[] = [];
  return {
    read(batch) {
      const done = doneOf(batch);
      const at = now();
      // While nothing was done yet, as before a worker is there, the clock of the rate stands still.
      const hasBegun = seen.some((earlier) => earlier.done < done);
      seen = hasBegun ? seen.filter((earlier) => at - earlier.at < WINDOW_MS) : [];
      seen.push({ done, at });
      const [first = { done, at }] = seen;
      const perSecond = (done - first.done) / Math.max(0.001, (at - first.at) / 1_000);
      return [
        `${drawBar(done, batch.total)} ${formatCount(done)}/${formatCount(batch.total)}`,
        ...(batch.holdReason === null ? [] : [describeState(batch)]),
        ...describeRate(perSecond, batch.total - done),
        describeCounts(batch),
      ].join(" · ");
    },
  };
}

function drawBar(done: number, total: number): string {
  const filled = total === 0 ? 0 : Math.floor((done / total) * BAR_WIDTH);
  return `[${"#".repeat(filled)}${"-".repeat(BAR_WIDTH - filled)}]`;
}

function describeRate(perSecond: number, left: number): readonly string[] {
  if (perSecond <= 0) return [];
  const rate = `${perSecond < 10 ? perSecond.toFixed(1) : formatCount(perSecond)} jobs/s`;
  return left === 0 ? [rate] : [rate, `${formatDuration((left / perSecond) * 1_000)} left`];
}
