import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Database, Queryable } from "../connection/database.ts";
import { execute, oneRowOf, rowsOf, valuesOf } from "../connection/rows.ts";
import { CANCEL_CHANNEL, completedSchema } from "./batches.ts";
import type { CompletedBatch } from "./batches.ts";

/**
 * A batch that is cancelled, or whose deadline passes, is closed first: from then on none of its jobs is dispatched or claimed,
 * and running jobs are asked to stop. Then its waiting jobs are ended in slices, each in its own transaction, by the command that
 * closed it or by the workers' maintenance, whichever is first.
 */

/** Jobs of one slice, which takes less than a second. */
const SLICE_JOBS = 5_000;
const BUSY_MS = 50;

/**
 * Cancels a batch: ends waiting jobs, asks running jobs to stop, and keeps finished jobs.
 * @param onEnded receives the number of ended jobs after each slice
 */
export async function cancelBatch(
  database: Database,
  batchId: string,
  onEnded: (jobs: number) => void = () => undefined,
): Promise<void> {
  await database.transaction((db) => closeAsCancelled(db, batchId));
  await endWaitingJobs(database, batchId, onEnded);
}

/** The first step of `cancelBatch`: when it is committed, the workers' maintenance takes the others. */
export async function closeAsCancelled(db: Queryable, batchId: string): Promise<void> {
  await closeCancelled(db, batchId);
  await askRunningToStop(db, batchId);
}

const closeCancelled = (db: Queryable, batchId: string): Promise<void> =>
  execute(db, [batchId])`
     update nightdesk_data.batches b
        set state = 'cancelled', finished_at = now(), closing = true, hold_reason = null, hold_until = null
      where batch_id = $1 and (state in ('loading', 'open')
         -- More jobs are being loaded into it.
         or state = 'completed' and exists (
              select from nightdesk_data.jobs j where j.batch_id = b.batch_id and j.state = 'queued'))`;

async function askRunningToStop(db: Queryable, batchId: string): Promise<void> {
  await execute(db, [batchId])`
     with running as materialized (
       select job_id from nightdesk_data.jobs
        where batch_id = $1 and state = 'running' and not cancel_requested
        order by seq for no key update)
     update nightdesk_data.jobs j set cancel_requested = true from running where j.job_id = running.job_id`;
  await execute(db, [batchId])`select pg_notify('${CANCEL_CHANNEL}', $1)`;
}

/** Ends the waiting jobs of a closed batch until none is left. */
export async function endWaitingJobs(
  database: Database,
  batchId: string,
  onEnded: (jobs: number) => void = () => undefined,
): Promise<void> {
  let ended = 0;
  let after = FROM_THE_START;
  for (;;) {
    const slice = await endSlice(database, batchId, after);
    if (slice === "done") return;
    if (slice === "busy") await sleep(BUSY_MS);
    else {
      after = slice.after;
      ended += slice.jobs;
      onEnded(ended);
    }
  }
}

/** A sequence number before all jobs. */
const FROM_THE_START = "0";

const sliceSchema = z.object({
  closing: z.boolean().nullable(),
  held: z.boolean(),
  jobs: z.coerce.number(),
  last: z.string().nullable(),
});

/** The number of ended jobs, and the start of the next slice. */
export type Slice = { readonly jobs: number; readonly after: string };

/**
 * Ends at most 5,000 jobs of a closed batch, and asks jobs to stop that began to run while it was closed.
 * @param after end of the slice before, so that ended jobs are not read again
 * @returns `done` when no job is left, `busy` while another process ends a slice
 */
export async function endSlice(
  db: Queryable,
  batchId: string,
  after: string = FROM_THE_START,
): Promise<Slice | "done" | "busy"> {
  const { closing, held, jobs, last } = await oneRowOf(db, sliceSchema, [
    batchId,
    after,
  ])`${END_SLICE}`;
  if (closing !== true) return "done";
  if (!held) return "busy";
  if (last !== null) return { jobs, after: last };
  return after === FROM_THE_START ? "done" : { jobs: 0, after: FROM_THE_START };
}

const END_SLICE = `
with batch as materialized (
  select batch_id, state from nightdesk_data.batches where batch_id = $1 and closing for no key update skip locked),
picked as materialized (
  select job_id, seq from nightdesk_data.jobs
   where batch_id = $1 and seq > $2::bigint and exists (select from batch)
     and (state in ('queued', 'parked') or state = 'running' and not cancel_requested)
   order by seq limit ${SLICE_JOBS} for no key update),
ended as (
  update nightdesk_data.jobs j
     set state = case when j.state = 'running' then j.state else batch.state end,
         cancel_requested = true, dispatched_at = null, parked_host = null, waiting_for = null,
         error_code = case when j.state = 'running' then error_code
                           when batch.state = 'expired' then 'DEADLINE_EXCEEDED' else 'CANCELLED' end,
         error_message = case when j.state = 'running' then error_message
                              when batch.state = 'expired' then 'The deadline of the batch passed before it ran.'
                              else 'Cancelled before it ran.' end,
         finished_at = case when j.state = 'running' then null else clock_timestamp() end
    from picked, batch where j.job_id = picked.job_id
  returning j.state),
said as (
  select count(pg_notify('${CANCEL_CHANNEL}', $1::text)) from (select from ended where state = 'running' limit 1) asked),
closed as (
  update nightdesk_data.batches b set closing = false
    from batch where b.batch_id = batch.batch_id and $2::bigint = 0 and not exists (select from picked))
select (select closing from nightdesk_data.batches where batch_id = $1) as closing,
       exists (select from batch) as held, count(*) as jobs, max(seq)::text as last, (select count from said) as said
  from picked`;

/** Closed batches that still have waiting jobs. */
export const selectClosing = (db: Queryable): Promise<readonly string[]> =>
  valuesOf(db, z.string())`
     select batch_id from nightdesk_data.batches where closing order by finished_at, batch_id`;

/**
 * Closes open batches with unfinished jobs whose deadline has passed; a batch without unfinished jobs becomes completed instead.
 * @param now default: the database's clock
 */
export async function expireBatches(
  db: Queryable,
  now: Date | "database" = "database",
): Promise<readonly CompletedBatch[]> {
  const expired = await rowsOf(db, completedSchema, [now === "database" ? null : now])`
     with late as materialized (
       select batch_id from nightdesk_data.batches b
        where state = 'open' and deadline_at <= coalesce($1::timestamptz, clock_timestamp())
          and exists (select from nightdesk_data.jobs j
                       where j.batch_id = b.batch_id and j.state in ('queued', 'running', 'parked'))
          for no key update skip locked),
     closed as (
       update nightdesk_data.batches b
          set state = 'expired', finished_at = now(), closing = true, hold_reason = null, hold_until = null
         from late where b.batch_id = late.batch_id and b.state = 'open'
       returning b.batch_id, b.origin)
     select batch_id, origin from closed order by batch_id`;
  for (const { batchId } of expired) await askRunningToStop(db, batchId);
  return expired;
}
