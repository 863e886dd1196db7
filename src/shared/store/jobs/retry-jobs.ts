import { z } from "zod";
import { Failure } from "../../failure.ts";
import type { Database, Queryable } from "../connection/database.ts";
import { execute, oneRowOf, rowOf } from "../connection/rows.ts";
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
  const retry = (which: "children" | "parents", after: string) =>
    database
      .within(which === "parents" ? "build" : "query")
      .transaction((db) => retrySlice(db, [batchId, states, after], which));
  let total = 0;
  // By sequence number, since a job of an earlier slice may have failed again by now.
  for (let slice = await retry("children", "0"); slice.last !== null;) {
    total += slice.jobs;
    onQueued(total);
    slice = await retry("children", slice.last);
  }
  return total + (await retry("parents", "0")).jobs;
}

type SliceValues = readonly [batchId: string, states: readonly RetriedState[], after: string];

/** @param which children: one slice of the jobs without children; parents: all jobs with children */
async function retrySlice(
  db: Queryable,
  values: SliceValues,
  which: "children" | "parents",
): Promise<RetriedSlice> {
  const [batchId] = values;
  await lockBatch(db, batchId);
  const where =
    which === "parents" ? HAS_CHILDREN : `not ${HAS_CHILDREN} order by seq limit ${SLICE_JOBS}`;
  const queued = await requeueJobs(db, where, values);
  if (queued.jobs > 0 && which === "parents") await countChildren(db, batchId);
  if (queued.jobs > 0) await reopenBatch(db, batchId);
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

const sliceSchema = z.object({ jobs: z.coerce.number(), last: z.string().nullable() });
type RetriedSlice = z.infer<typeof sliceSchema>;

const requeueJobs = (db: Queryable, which: string, values: SliceValues): Promise<RetriedSlice> =>
  oneRowOf(db, sliceSchema, values)`
     with picked as materialized (
       select job_id, seq from nightdesk_data.jobs j
        where batch_id = $1 and state = any($2::text[]) and duplicate_of is null and seq > $3::bigint and ${which}),
     queued as (
       update nightdesk_data.jobs j
          set state = 'queued', attempt = 0, parks = 0, losses = 0, broken_calls = 0, dispatch = dispatch + 1, due_at = now(),
              cancel_requested = false, error_code = null, error_message = null, started_at = null,
              finished_at = null
         from picked where j.job_id = picked.job_id and j.state = any($2::text[]) returning 1)
     select (select count(*) from queued) as jobs, max(seq)::text as last from picked`;

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
