import { z } from "zod";
import type { Database, Queryable } from "../database.ts";

/** Payload-free: whoever hears it looks at the rows. */
export const JOBS_CHANNEL = "nightdesk_jobs";
/** Said after the rows of a cancellation are written. */
export const CANCEL_CHANNEL = "nightdesk_cancel";

const createdSchema = z.tuple([
  z.object({ batch_id: z.string(), state: z.string(), created: z.boolean() }),
]);

/**
 * Creates a batch that loads, or finds the one of that name.
 * @returns its id, whether it was created now, and its stored state
 */
export async function findOrCreateBatch(
  db: Queryable,
  name: string,
  origin: "file" | "ad_hoc",
): Promise<{ readonly batchId: string; readonly created: boolean; readonly state: string }> {
  const { rows } = await db.query(
    `with added as (
       insert into nightdesk_data.batches (name, origin) values ($1, $2)
       on conflict (name) do nothing returning batch_id, state)
     select batch_id, state, true as created from added
     union all
     select batch_id, state, false from nightdesk_data.batches where name = $1
     limit 1`,
    [name, origin],
  );
  const [row] = createdSchema.parse(rows);
  return { batchId: row.batch_id, created: row.created, state: row.state };
}

/** Ends the loading of a batch: from now on its jobs are dispatched. A batch without jobs is completed. */
export async function openBatch(db: Queryable, batchId: string): Promise<void> {
  await db.query(
    `with opened as (
       update nightdesk_data.batches b
          set state = case when exists (
                select from nightdesk_data.jobs j
                 where j.batch_id = b.batch_id and j.state in ('queued', 'running', 'parked'))
              then 'open' else 'completed' end,
              finished_at = case when exists (
                select from nightdesk_data.jobs j
                 where j.batch_id = b.batch_id and j.state in ('queued', 'running', 'parked'))
              then null else now() end
        where batch_id = $1 and state in ('loading', 'open', 'completed')
       returning batch_id)
     select pg_notify('${JOBS_CHANNEL}', '') from opened`,
    [batchId],
  );
}

/** Deletes a batch with its jobs: what a load that failed leaves behind. */
export async function deleteBatch(db: Queryable, batchId: string): Promise<void> {
  await db.query("delete from nightdesk_data.batches where batch_id = $1", [batchId]);
}

const completedSchema = z.array(
  z.object({ batch_id: z.string(), origin: z.enum(["file", "ad_hoc"]) }),
);
export type CompletedBatch = { readonly batchId: string; readonly origin: "file" | "ad_hoc" };

/**
 * Marks open batches completed in which no job is left to do. The rows of jobs decide, after the last of them
 * was committed; a worker that died in between leaves it to the next call.
 * @param batchId one batch, or null for all
 */
export async function completeBatches(
  db: Queryable,
  batchId: string | null,
): Promise<readonly CompletedBatch[]> {
  const { rows } = await db.query(
    `update nightdesk_data.batches b
        set state = 'completed', finished_at = now(), hold_reason = null, hold_until = null
      where state = 'open' and ($1::uuid is null or batch_id = $1)
        and not exists (select from nightdesk_data.jobs j
                         where j.batch_id = b.batch_id and j.state in ('queued', 'running', 'parked'))
     returning batch_id, origin`,
    [batchId],
  );
  return completedSchema.parse(rows).map(({ batch_id, origin }) => ({ batchId: batch_id, origin }));
}

/**
 * Cancels a batch: what waits ends at once, what runs is asked to stop, what is finished stays. The batch is closed
 * first and in a statement of its own, so that the second sees every job that was inserted before it.
 */
export async function cancelBatch(database: Database, batchId: string): Promise<void> {
  await database.transaction(async (db) => {
    await closeCancelled(db, batchId);
    await cancelJobs(db, batchId);
    await db.query(`select pg_notify('${CANCEL_CHANNEL}', $1)`, [batchId]);
  });
}

async function closeCancelled(db: Queryable, batchId: string): Promise<void> {
  await db.query(
    `update nightdesk_data.batches b
        set state = 'cancelled', finished_at = now(), hold_reason = null, hold_until = null
      where batch_id = $1 and (state in ('loading', 'open')
         -- More jobs are being loaded into it.
         or state = 'completed' and exists (
              select from nightdesk_data.jobs j where j.batch_id = b.batch_id and j.state = 'queued'))`,
    [batchId],
  );
}

async function cancelJobs(db: Queryable, batchId: string): Promise<void> {
  await db.query(
    `with open as materialized (
       select job_id from nightdesk_data.jobs
        where batch_id = $1 and state in ('queued', 'parked', 'running')
        order by seq for no key update)
     update nightdesk_data.jobs j
        set state = case when state = 'running' then state else 'cancelled' end,
            cancel_requested = true,
            error_code = case when state = 'running' then error_code else 'CANCELLED' end,
            error_message = case when state = 'running' then error_message
                                 else 'Cancelled before it ran.' end,
            dispatched_at = null,
            finished_at = case when state = 'running' then null else now() end
       from open where j.job_id = open.job_id`,
    [batchId],
  );
}

/** Tells the workers that there are new jobs. */
export async function notifyJobs(db: Queryable): Promise<void> {
  await db.query(`select pg_notify('${JOBS_CHANNEL}', '')`);
}
