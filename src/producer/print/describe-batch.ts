import type { BatchProgress } from "../../shared/db/jobs/read-batches.ts";
import { FINAL_STATES, JOB_STATES } from "../../shared/job.ts";
import { formatCount, formatTime } from "./quantity.ts";

/** A batch as `--json` gives it. */
export const batchJson = (batch: BatchProgress): Record<string, unknown> => ({
  batch_id: batch.batchId,
  batch: batch.name,
  origin: batch.origin,
  state: batch.state,
  hold_reason: batch.holdReason,
  hold_until: batch.holdUntil,
  total: batch.total,
  ...batch.counts,
  created_at: batch.createdAt,
  finished_at: batch.finishedAt,
});

/** Jobs that have ended. */
export const doneOf = ({ counts }: BatchProgress): number =>
  FINAL_STATES.reduce((sum, state) => sum + counts[state], 0);

/** `48 succeeded, 12 refused`: every state that a job is in. */
export function describeCounts({ counts }: BatchProgress): string {
  const parts = JOB_STATES.filter((state) => counts[state] > 0).map(
    (state) => `${formatCount(counts[state])} ${state}`,
  );
  return parts.length === 0 ? "no jobs" : parts.join(", ");
}

/** `held until 2026-11-21 22:00:00Z: window`, or the state alone. */
export function describeState(batch: BatchProgress): string {
  if (batch.holdReason === null) return batch.state;
  const until = batch.holdUntil === null ? "" : ` until ${formatTime(batch.holdUntil)}`;
  return `held${until}: ${batch.holdReason}`;
}
