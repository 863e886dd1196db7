import { z } from "zod";
import { Failure } from "../../failure.ts";
import type { Queryable } from "../database.ts";
import type { BatchSettings } from "./batch-settings.ts";
import { BATCH_ORIGINS } from "./batch-origin.ts";
import type { BatchOrigin } from "./batch-origin.ts";

/** Payload-free: whoever hears it looks at the rows. */
export const JOBS_CHANNEL = "nightdesk_jobs";
/** Said after the rows of a cancellation are written. */
export const CANCEL_CHANNEL = "nightdesk_cancel";

const createdSchema = z.tuple([
  z.object({
    batch_id: z.string(),
    state: z.string(),
    created: z.boolean(),
    origin: z.enum(BATCH_ORIGINS),
  }),
]);

/**
 * Creates a batch that loads, or finds the one of that name.
 * @param settings of a batch that is created now; one that is found keeps its own
 * @returns its id, whether it was created now, and its stored state
 * @throws Failure INPUT_INVALID when it is the run of a schedule, which takes no jobs beside its command
 */
export async function findOrCreateBatch(
  db: Queryable,
  name: string,
  origin: BatchOrigin,
  { windows = null, deadlineAt = null, priority = 0 }: BatchSettings = {},
): Promise<{ readonly batchId: string; readonly created: boolean; readonly state: string }> {
  const { rows } = await db.query(
    `with added as (
       insert into nightdesk_data.batches (name, origin, windows, deadline_at, priority)
       values ($1, $2, $3, $4, $5)
       on conflict (name) do nothing returning batch_id, state, origin)
     select batch_id, state, origin, true as created from added
     union all
     select batch_id, state, origin, false from nightdesk_data.batches where name = $1
     limit 1`,
    [name, origin, windows, deadlineAt, priority],
  );
  const [row] = createdSchema.parse(rows);
  if (row.origin === "schedule" && origin !== "schedule") {
    throw new Failure(
      "INPUT_INVALID",
      `Batch ${JSON.stringify(name)} is the run of a schedule and takes no other jobs; give another name.`,
    );
  }
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

const completedSchema = z.array(z.object({ batch_id: z.string(), origin: z.enum(BATCH_ORIGINS) }));
export type CompletedBatch = { readonly batchId: string; readonly origin: BatchOrigin };

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

/** Tells the workers that there are new jobs. */
export async function notifyJobs(db: Queryable): Promise<void> {
  await db.query(`select pg_notify('${JOBS_CHANNEL}', '')`);
}
