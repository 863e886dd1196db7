import { z } from "zod";
import { Failure } from "../../failure.ts";
import type { Database, Queryable } from "../connection/database.ts";
import { countRows, execute, rowOf } from "../connection/rows.ts";
import { JOBS_CHANNEL } from "./batches.ts";

/** Final states without a result, whose jobs can be retried in their batch. */
export const RETRIED_STATES = ["failed", "expired", "cancelled"] as const;
export type RetriedState = (typeof RETRIED_STATES)[number];

/** Jobs of one transaction, which takes less than a second. */
const SLICE_JOBS = 5_000;

/**
 * Queues jobs again that ended without a result, as if they had never run, and reopens their batch; a deadline that has passed is
 * removed. Jobs without children come first, in slices; jobs with children come last and together, so that none is due before its
 * children. Duplicates stay as they are.
 * @param onQueued receives the number of queued jobs after each slice
 * @returns how many
 * @throws Failure INPUT_INVALID while the batch is loading
 */
export async function retryJobs(
  database: Database,
  batchId: string,
  states: readonly RetriedState[],
  onQueued: (jobs: number) => void = () => undefined,
): Promise<number> {
  let total = 0;
  for (;;) {
    const queued = await database.transaction((db) =>
      retrySlice(db, [batchId, states], "children"),
    );
    if (queued === 0) break;
    total += queued;
    onQueued(total);
  }
  return (
    total +
    (await database
      .within("build")
      .transaction((db) => retrySlice(db, [batchId, states], "parents")))
  );
}

/** @param which children: one slice of the jobs without children; parents: all jobs with children */
async function retrySlice(
  db: Queryable,
  [batchId, states]: readonly [string, readonly RetriedState[]],
  which: "children" | "parents",
): Promise<number> {
  await lockBatch(db, batchId);
  const where = which === "parents" ? HAS_CHILDREN : `not ${HAS_CHILDREN} limit ${SLICE_JOBS}`;
  const queued = await requeueJobs(db, where, [batchId, states]);
  if (queued > 0 && which === "parents") await countChildren(db, batchId);
  if (queued > 0) await reopenBatch(db, batchId);
  return queued;
}

const stateSchema = z.object({ name: z.string(), state: z.string() });

async function lockBatch(db: Queryable, batchId: string): Promise<void> {
  const batch = await rowOf(db, stateSchema, [batchId])`
     select name, state from nightdesk_data.batches where batch_id = $1 for no key update`;
  if (batch?.state !== "loading") return;
  throw new Failure(
    "INPUT_INVALID",
    `Batch ${JSON.stringify(batch.name)} is still being loaded; nothing of it has run yet.`,
  );
}

const HAS_CHILDREN =
  "exists (select from nightdesk_data.job_dependencies d where d.parent_id = j.job_id)";

const requeueJobs = (
  db: Queryable,
  which: string,
  values: readonly [batchId: string, states: readonly RetriedState[]],
): Promise<number> =>
  countRows(db, values)`
     with picked as materialized (
       select job_id from nightdesk_data.jobs j
        where batch_id = $1 and state = any($2::text[]) and duplicate_of is null and ${which})
     update nightdesk_data.jobs j
        set state = 'queued', attempt = 0, parks = 0, losses = 0, broken_calls = 0, dispatch = dispatch + 1, due_at = now(),
            cancel_requested = false, error_code = null, error_message = null, started_at = null,
            finished_at = null
       from picked where j.job_id = picked.job_id and j.state = any($2::text[])`;

/** Counts the unfinished children of parents from the rows: the trigger ignores a child that ends while its parent is final. */
const countChildren = (db: Queryable, batchId: string): Promise<void> =>
  execute(db, [batchId])`
     update nightdesk_data.jobs j
        set waits_for = (select count(*) from nightdesk_data.job_dependencies d
                           join nightdesk_data.jobs child on child.job_id = d.child_id
                          where d.parent_id = j.job_id and child.finished_at is null)
      where j.batch_id = $1 and j.state = 'queued' and j.attempt = 0 and ${HAS_CHILDREN}`;

const reopenBatch = (db: Queryable, batchId: string): Promise<void> =>
  execute(db, [batchId])`
     with opened as (
       update nightdesk_data.batches
          set state = 'open', finished_at = null, closing = false,
              deadline_at = case when deadline_at > clock_timestamp() then deadline_at end
        where batch_id = $1
       returning batch_id)
     select pg_notify('${JOBS_CHANNEL}', '') from opened`;
