import { z } from "zod";
import { Failure } from "../../failure.ts";
import type { Queryable } from "../connection/database.ts";
import { anyRow, camelRow, execute, rowOf } from "../connection/rows.ts";
import { openBatch } from "./batches.ts";

/** A command that adds jobs to a batch. One at a time has a batch: it renews its claim until it opens the batch. */
export type Load = {
  readonly batchId: string;
  readonly loadId: string;
  /** `loading`: no job of the batch is dispatched yet. `added`: the batch is open, so new jobs are held back one by one. */
  readonly mode: "loading" | "added";
};

/** After that time without a renewal another command may load jobs into the batch: its command was killed, or its machine slept. */
const CLAIM_SECONDS = 15;

const beginningSchema = z.object({ state: z.string(), mine: z.boolean() });

/**
 * Takes a batch for one load.
 * @returns its stored state, and whether this load has it; undefined for a batch that was deleted
 */
export const claimLoad = (
  db: Queryable,
  batchId: string,
  loadId: string,
): Promise<z.infer<typeof beginningSchema> | undefined> =>
  rowOf(db, beginningSchema, [batchId, loadId])`
     with mine as (
       update nightdesk_data.batches
          set load_id = $2, load_until = clock_timestamp() + interval '${CLAIM_SECONDS} s'
        where batch_id = $1 and (load_id is null or load_until < clock_timestamp())
       returning state)
     select state, true as mine from mine
     union all
     select state, false from nightdesk_data.batches where batch_id = $1
     limit 1`;

/** @throws Failure CANCELLED if another command took the batch, or it was deleted */
export async function renewLoad(db: Queryable, { batchId, loadId }: Load): Promise<void> {
  const isMine = await anyRow(db, [batchId, loadId])`
     update nightdesk_data.batches set load_until = clock_timestamp() + interval '${CLAIM_SECONDS} s'
      where batch_id = $1 and load_id = $2`;
  if (!isMine) {
    throw new Failure(
      "CANCELLED",
      `This load did not renew its claim for ${CLAIM_SECONDS} s, and another command loads jobs into the batch now, or the batch was ` +
        "deleted or cancelled. Queue the same file again.",
    );
  }
}

/** Leaves the batch to the next load. Held back jobs stay, until the same file is queued again. */
export const endLoad = (db: Queryable, { batchId, loadId }: Load): Promise<void> =>
  execute(db, [batchId, loadId])`
     update nightdesk_data.batches set load_id = null, load_until = null where batch_id = $1 and load_id = $2`;

/** Removes what a rejected file brought: the batch, if it was never open, or the jobs that are held back. */
export const undoLoad = (db: Queryable, { batchId, loadId, mode }: Load): Promise<void> =>
  mode === "loading"
    ? execute(db, [batchId, loadId])`
        delete from nightdesk_data.batches where batch_id = $1 and load_id = $2`
    : execute(db, [batchId, loadId])`
        with ended as (
          update nightdesk_data.batches set load_id = null, load_until = null
           where batch_id = $1 and load_id = $2
          returning batch_id)
        delete from nightdesk_data.jobs j using ended
         where j.batch_id = ended.batch_id and j.state = 'queued' and j.due_at = 'infinity'`;

/**
 * Holds back new jobs until the last line of their file is read, by a due time of infinity. For jobs that are added to an open
 * batch, whose other jobs continue; a loading batch does not need it.
 */
export const holdBackJobs = (db: Queryable, jobIds: readonly string[]): Promise<void> =>
  execute(db, [jobIds])`
     update nightdesk_data.jobs set due_at = 'infinity' where job_id = any($1::uuid[])`;

/**
 * After the last line: opens the batch, and makes held back jobs due. In this order, because a cancellation also locks the batch
 * first and then its jobs.
 */
export async function releaseJobs(db: Queryable, load: Load): Promise<void> {
  await renewLoad(db, load);
  await openBatch(db, load.batchId);
  await execute(db, [load.batchId])`
     update nightdesk_data.jobs set due_at = now()
      where batch_id = $1 and state = 'queued' and due_at = 'infinity'`;
}

const heldBackSchema = camelRow({ jobs: z.coerce.number(), is_loading: z.boolean() });
/** Jobs that wait for the end of their load; not `isLoading`: it was interrupted, and they wait for the same file. */
export type HeldBackJobs = z.infer<typeof heldBackSchema>;

export const countHeldBackJobs = async (db: Queryable, batchId: string): Promise<HeldBackJobs> =>
  (await rowOf(db, heldBackSchema, [batchId])`
     select count(j.job_id) as jobs, coalesce(b.load_until > clock_timestamp(), false) as is_loading
       from nightdesk_data.batches b
            left join nightdesk_data.jobs j on j.batch_id = b.batch_id and j.state = 'queued' and j.due_at = 'infinity'
      where b.batch_id = $1 group by b.batch_id`) ?? { jobs: 0, isLoading: false };
