import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { anyRow, valuesOf } from "../connection/rows.ts";

/** What somebody may decide about a batch, when it is created and later. What is undefined is left as it is. */
export type BatchSettings = {
  /** Times in which its jobs may run. Empty: always; null: those of the desk. */
  readonly windows?: readonly string[] | null | undefined;
  /** When what has not finished expires. */
  readonly deadlineAt?: Date | null | undefined;
  /** Added to the priority of each of its jobs, -100 to 100. */
  readonly priority?: number | undefined;
};

/**
 * Changes a batch that has not ended. `evaluateHolds` works out what follows from it.
 * @returns `ended` when it has, and nothing was changed
 */
export const changeBatch = async (
  db: Queryable,
  batchId: string,
  { windows, deadlineAt, priority }: BatchSettings,
): Promise<"changed" | "ended"> =>
  (await anyRow(db, [
    batchId,
    windows !== undefined,
    windows ?? null,
    deadlineAt !== undefined,
    deadlineAt ?? null,
    priority ?? null,
  ])`
     update nightdesk_data.batches
        set windows = case when $2 then $3::text[] else windows end,
            deadline_at = case when $4 then $5::timestamptz else deadline_at end,
            priority = coalesce($6::smallint, priority)
      where batch_id = $1 and state in ('loading', 'open')`)
    ? "changed"
    : "ended";

/**
 * Holds a batch until somebody resumes it; what runs may finish.
 * @returns `ended` when there is nothing to hold, `paused_before` when somebody did already
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

/** @returns `not_paused` when nobody had paused it, or it has ended */
export const resumeBatch = async (
  db: Queryable,
  batchId: string,
): Promise<"resumed" | "not_paused"> =>
  (await anyRow(db, [batchId])`
     update nightdesk_data.batches set paused_at = null
      where batch_id = $1 and paused_at is not null and state in ('loading', 'open')`)
    ? "resumed"
    : "not_paused";
