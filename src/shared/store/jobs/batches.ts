import { z } from "zod";
import { Failure } from "../../failure.ts";
import { currentTraceparent, inSpan } from "../../metrics/traces.ts";
import type { Queryable } from "../connection/database.ts";
import { camelRow, execute, oneRowOf, rowsOf, valueOf } from "../connection/rows.ts";
import type { BatchSettings } from "./batch-settings.ts";

/** file: loaded from a file or by a glob. ad_hoc: one job that somebody may be waiting for. schedule: one command. */
export const BATCH_ORIGINS = ["file", "ad_hoc", "schedule"] as const;
export type BatchOrigin = (typeof BATCH_ORIGINS)[number];
/** Of all batches. system: what Nightdesk does for itself about another batch; verify: the checks of its answers, or the exam of their judge. Nobody is shown either. */
export const ALL_ORIGINS = [...BATCH_ORIGINS, "system", "verify"] as const;
type AnyOrigin = (typeof ALL_ORIGINS)[number];

/** Payload-free: whoever hears it looks at the rows. */
export const JOBS_CHANNEL = "nightdesk_jobs";
/** Said after the rows of a cancellation are written. */
export const CANCEL_CHANNEL = "nightdesk_cancel";
/** Something happened that a person who looks at the desk wants to see: runs have ended, or a batch was changed. */
export const EVENTS_CHANNEL = "nightdesk_events";

/** Tells whoever looks at the desk that there is something new. */
export const announceEvents = (db: Queryable): Promise<void> =>
  execute(db)`select pg_notify('${EVENTS_CHANNEL}', '')`;

const createdSchema = camelRow({
  batch_id: z.string(),
  state: z.string(),
  created: z.boolean(),
  origin: z.enum(ALL_ORIGINS),
});

/**
 * Creates a batch that loads, or finds the one of that name.
 * @param settings of a batch that is created now; one that is found keeps its own
 * @returns its id, whether it was created now, and its stored state
 * @throws Failure INPUT_INVALID when it is the run of a schedule, or Nightdesk's own, and takes no other jobs
 */
export async function findOrCreateBatch(
  db: Queryable,
  name: string,
  origin: BatchOrigin,
  settings: BatchSettings = {},
): Promise<FoundBatch> {
  return inSpan(
    "enqueue batch",
    { kind: "producer", facts: { "nightdesk.origin": origin } },
    async (span) => {
      const found = await insertOrFind(db, name, origin, settings);
      span.set({ "nightdesk.batch_id": found.batchId, "nightdesk.created": found.created });
      return found;
    },
  );
}

type FoundBatch = { readonly batchId: string; readonly created: boolean; readonly state: string };

async function insertOrFind(
  db: Queryable,
  name: string,
  origin: BatchOrigin,
  { windows = null, deadlineAt = null, priority = 0 }: BatchSettings,
): Promise<FoundBatch> {
  const found = await oneRowOf(db, createdSchema, [
    name,
    origin,
    windows,
    deadlineAt,
    priority,
    currentTraceparent(),
  ])`
     with added as (
       insert into nightdesk_data.batches (name, origin, windows, deadline_at, priority, trace_context)
       values ($1, $2, $3, $4, $5, $6)
       on conflict (name) do nothing returning batch_id, state, origin)
     select batch_id, state, origin, true as created from added
     union all
     select batch_id, state, origin, false from nightdesk_data.batches where name = $1
     limit 1`;
  const of = TAKES_NO_OTHERS[found.origin];
  if (of !== undefined && origin !== found.origin) {
    throw new Failure(
      "INPUT_INVALID",
      `Batch ${JSON.stringify(name)} is ${of} and takes no other jobs; give another name.`,
    );
  }
  return found;
}

const TAKES_NO_OTHERS: Partial<Record<AnyOrigin, string>> = {
  schedule: "the run of a schedule",
  system: "of Nightdesk itself",
  verify: "of Nightdesk itself",
};

/** Ends the loading of a batch: from now on its jobs are dispatched. A batch without jobs is completed. */
export const openBatch = (db: Queryable, batchId: string): Promise<void> =>
  execute(db, [batchId])`
     with opened as (
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
     select pg_notify('${JOBS_CHANNEL}', '') from opened`;

/** Deletes a batch with its jobs: what a load that failed leaves behind. */
export const deleteBatch = (db: Queryable, batchId: string): Promise<void> =>
  execute(db, [batchId])`delete from nightdesk_data.batches where batch_id = $1`;

/** A batch that has ended, as a statement gives it. */
export const completedSchema = camelRow({ batch_id: z.string(), origin: z.enum(ALL_ORIGINS) });
export type CompletedBatch = z.infer<typeof completedSchema>;

/**
 * Marks open batches completed in which no job is left to do. The rows of jobs decide, after the last of them
 * was committed; a worker that died in between leaves it to the next call. A batch whose row somebody changed while this
 * waited for it, as a draft does that queues more checks, may have jobs that this statement does not see: it is left to
 * the next call as well.
 * @param batchId one batch, or null for all
 */
export const completeBatches = (
  db: Queryable,
  batchId: string | null,
): Promise<readonly CompletedBatch[]> =>
  rowsOf(db, completedSchema, [batchId])`
     update nightdesk_data.batches b
        set state = 'completed', finished_at = now(), hold_reason = null, hold_until = null
      where state = 'open' and ($1::uuid is null or batch_id = $1)
        and not exists (select from nightdesk_data.jobs j
                         where j.batch_id = b.batch_id and j.state in ('queued', 'running', 'parked'))
        and b.xmin::text = (select seen.xmin::text from nightdesk_data.batches seen where seen.batch_id = b.batch_id)
     returning batch_id, origin`;

/** Tells the workers that there are new jobs. */
export const notifyJobs = (db: Queryable): Promise<void> =>
  execute(db)`select pg_notify('${JOBS_CHANNEL}', '')`;

export const BATCH_FORMATS = ["native", "openai"] as const;
/** How the input of a batch was written, and how its output is unless somebody asks for another form. */
export type BatchFormat = (typeof BATCH_FORMATS)[number];

export const setBatchFormat = (
  db: Queryable,
  batchId: string,
  format: BatchFormat,
): Promise<void> =>
  execute(db, [batchId, format])`update nightdesk_data.batches set format = $2 where batch_id = $1`;

export const selectBatchFormat = (db: Queryable, batchId: string): Promise<BatchFormat> =>
  valueOf(db, z.enum(BATCH_FORMATS), [batchId])`
     select format from nightdesk_data.batches where batch_id = $1`;

/**
 * Holds new jobs back until the last line of their file was read: due never. A batch that loads needs no such
 * thing; this is for jobs that are added to one that is open already, whose other jobs go on.
 */
export const holdBackJobs = (db: Queryable, jobIds: readonly string[]): Promise<void> =>
  execute(db, [jobIds])`
     update nightdesk_data.jobs set due_at = 'infinity' where job_id = any($1::uuid[])`;

/**
 * The last line was read: opens the batch, and makes jobs due that were held back. In this order: a cancellation, too,
 * takes the batch first and its jobs then.
 */
export async function releaseJobs(db: Queryable, batchId: string): Promise<void> {
  await openBatch(db, batchId);
  await execute(db, [batchId])`
     update nightdesk_data.jobs set due_at = now()
      where batch_id = $1 and state = 'queued' and due_at = 'infinity'`;
}

/** Deletes jobs that were held back, when the file they came from turned out bad. */
export const deleteHeldBackJobs = (db: Queryable, batchId: string): Promise<void> =>
  execute(db, [batchId])`
     delete from nightdesk_data.jobs where batch_id = $1 and state = 'queued' and due_at = 'infinity'`;

/** Jobs of a load that was interrupted: they wait until the same file is enqueued again. */
export const countHeldBackJobs = (db: Queryable, batchId: string): Promise<number> =>
  valueOf(db, z.coerce.number(), [batchId])`
     select count(*) as jobs from nightdesk_data.jobs
      where batch_id = $1 and state = 'queued' and due_at = 'infinity'`;
