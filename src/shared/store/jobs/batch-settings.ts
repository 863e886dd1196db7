import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { anyRow, valuesOf } from "../connection/rows.ts";

/** Settings of a batch, at its creation and later. An undefined setting stays unchanged. */
export type BatchSettings = {
  /** Time windows in which its jobs may run. Empty: always; null: the windows of the installation. */
  readonly windows?: readonly string[] | null | undefined;
  /** The time when unfinished jobs expire. */
  readonly deadlineAt?: Date | null | undefined;
  /** Added to the priority of each job, -100 to 100. */
  readonly priority?: number | undefined;
};

/** Batches that can be changed: those that have not ended; for a load, also a completed one, which more jobs open again. */
const CHANGED = { unfinished: ["loading", "open"], loaded: ["loading", "open", "completed"] };

/**
 * Changes a batch. `evaluateHolds` then applies the consequences. A completed batch loses a deadline that has passed: its new jobs
 * would expire at once.
 * @returns `ended` when it has ended, and nothing changed
 */
export const changeBatch = async (
  db: Queryable,
  batchId: string,
  { windows, deadlineAt, priority }: BatchSettings,
  which: keyof typeof CHANGED = "unfinished",
): Promise<"changed" | "ended"> =>
  (await anyRow(db, [
    batchId,
    windows !== undefined,
    windows ?? null,
    deadlineAt !== undefined,
    deadlineAt ?? null,
    priority ?? null,
    CHANGED[which],
  ])`
     update nightdesk_data.batches
        set windows = case when $2 then $3::text[] else windows end,
            deadline_at = case when $4 then $5::timestamptz
                               when state <> 'completed' or deadline_at > clock_timestamp() then deadline_at end,
            priority = coalesce($6::smallint, priority)
      where batch_id = $1 and state = any ($7::text[])`)
    ? "changed"
    : "ended";

/**
 * Holds a batch until a user resumes it; running jobs may finish.
 * @returns `ended` when it has ended, `paused_before` when it is paused already
 */
export async function pauseBatch(
  db: Queryable,
  batchId: string,
): Promise<"paused" | "paused_before" | "ended"> {
  const [isFirst] = await valuesOf(db, z.boolean(), [batchId])`
     with found as materialized (
       select batch_id, paused_at is null as is_first from nightdesk_data.batches
        where batch_id = $1 and state in ('loading', 'open') for no key update),
     paused as (
       update nightdesk_data.batches b set paused_at = coalesce(paused_at, clock_timestamp())
         from found where b.batch_id = found.batch_id)
     select is_first from found`;
  if (isFirst === undefined) return "ended";
  return isFirst ? "paused" : "paused_before";
}

/** @returns `not_paused` when it is not paused, or has ended */
export const resumeBatch = async (
  db: Queryable,
  batchId: string,
): Promise<"resumed" | "not_paused"> =>
  (await anyRow(db, [batchId])`
     update nightdesk_data.batches set paused_at = null
      where batch_id = $1 and paused_at is not null and state in ('loading', 'open')`)
    ? "resumed"
    : "not_paused";
