import type { BatchProgress } from "../../shared/db/jobs/read-batches.ts";
import { joined, plainText, styledState } from "../../shared/styled-text.ts";
import type { Line } from "../../shared/styled-text.ts";
import { FINAL_STATES, JOB_STATES } from "../../shared/job.ts";
import { describeHold } from "./describe-hold.ts";
import { formatCount } from "./quantity.ts";

/** A batch as `--json` gives it. */
export const batchJson = (batch: BatchProgress): Record<string, unknown> => ({
  batch_id: batch.batchId,
  batch: batch.name,
  origin: batch.origin,
  state: batch.state,
  hold_reason: batch.holdReason,
  hold_until: batch.holdUntil,
  paused_at: batch.pausedAt,
  windows: batch.windows ?? batch.deskWindows,
  deadline_at: batch.deadlineAt,
  priority: batch.priority,
  total: batch.total,
  ...batch.counts,
  created_at: batch.createdAt,
  finished_at: batch.finishedAt,
});

/** Jobs that have ended. */
export const doneOf = ({ counts }: BatchProgress): number =>
  FINAL_STATES.reduce((sum, state) => sum + counts[state], 0);

/** `48 succeeded, 12 refused`: every state that a job is in. */
export const describeCounts = (batch: BatchProgress): string => plainText(styledCounts(batch));

/** The same with each count in the colour of its state. */
export function styledCounts({ counts }: BatchProgress): Line {
  const parts = JOB_STATES.filter((state) => counts[state] > 0).map((state) =>
    styledState(state, `${formatCount(counts[state])} ${state}`),
  );
  return parts.length === 0
    ? "no jobs"
    : joined(parts.flatMap((part, at) => (at === 0 ? [part] : [", ", part])));
}

/** `held: window, until 2026-11-21 22:00 CET (2026-11-21 21:00:00Z)`, or the state alone. */
export const describeState = (batch: BatchProgress): string =>
  batch.holdReason === null ? batch.state : describeHold(batch);

export const styledBatchState = (batch: BatchProgress): Line =>
  styledState(batch.state, describeState(batch));
