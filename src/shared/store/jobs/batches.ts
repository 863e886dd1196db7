import { z } from "zod";
import { Failure } from "../../failure.ts";
import { currentTraceparent, inSpan } from "../../metrics/traces.ts";
import type { Queryable } from "../connection/database.ts";
import { camelRow, execute, rowOf, rowsOf, valueOf } from "../connection/rows.ts";
import type { BatchSettings } from "./batch-settings.ts";

/** file: jobs from a file or a glob. ad_hoc: one job that a user may wait for. schedule: one command. */
export const BATCH_ORIGINS = ["file", "ad_hoc", "schedule"] as const;
export type BatchOrigin = (typeof BATCH_ORIGINS)[number];
/** Also hidden batches. system: internal work about another batch; verify: checks of answers, or the exam of their judge. */
export const ALL_ORIGINS = [...BATCH_ORIGINS, "system", "verify"] as const;
type AnyOrigin = (typeof ALL_ORIGINS)[number];

/** Without payload: a listener reads the rows. */
export const JOBS_CHANNEL = "nightdesk_jobs";
/** Notified after the rows of a cancellation are written. */
export const CANCEL_CHANNEL = "nightdesk_cancel";
/** Notified when the dashboard must update: runs have ended, or a batch was changed. */
export const EVENTS_CHANNEL = "nightdesk_events";

/** Notifies dashboards of new events. */
export const announceEvents = (db: Queryable): Promise<void> =>
  execute(db)`select pg_notify('${EVENTS_CHANNEL}', '')`;

const createdSchema = camelRow({
  batch_id: z.string(),
  state: z.string(),
  created: z.boolean(),
  origin: z.enum(ALL_ORIGINS),
});

/**
 * Creates a batch in state loading, or finds the batch with that name.
 * @param settings of a new batch; an existing one keeps its own
 * @returns its id, whether it was created now, and its stored state
 * @throws Failure INPUT_INVALID for the batch of a schedule or an internal batch, which take no other jobs
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
  const values = [name, origin, windows, deadlineAt, priority, currentTraceparent()];
  const insert = () => rowOf(db, createdSchema, values)`
     with added as (
       insert into nightdesk_data.batches (name, origin, windows, deadline_at, priority, trace_context)
       values ($1, $2, $3, $4, $5, $6)
       on conflict (name) do nothing returning batch_id, state, origin)
     select batch_id, state, origin, true as created from added
     union all
     select batch_id, state, origin, false from nightdesk_data.batches where name = $1
     limit 1`;
  // A session that creates the name meanwhile is waited for, but its row is too new for this statement to see.
  const found = (await insert()) ?? (await insert());
  if (found === undefined) throw new Error(`batch ${JSON.stringify(name)} was deleted meanwhile`);
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

/** Ends the loading of a batch, so that its jobs are dispatched. A batch without unfinished jobs becomes completed. */
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
              then null else now() end,
              load_id = null, load_until = null
        where batch_id = $1 and state in ('loading', 'open', 'completed')
       returning batch_id)
     select pg_notify('${JOBS_CHANNEL}', '') from opened`;

/** Deletes a batch with its jobs, after a failed load. */
export const deleteBatch = (db: Queryable, batchId: string): Promise<void> =>
  execute(db, [batchId])`delete from nightdesk_data.batches where batch_id = $1`;

/** A batch that a statement has ended. */
export const completedSchema = camelRow({ batch_id: z.string(), origin: z.enum(ALL_ORIGINS) });
export type CompletedBatch = z.infer<typeof completedSchema>;

/**
 * Completes open batches that have no unfinished job. The rows of the jobs decide, after the last of them was committed; if a
 * worker dies in between, the next call completes the batch. Also left to the next call is a batch whose row changed while this
 * statement waited for it, for example by a draft that queues more checks: it may have jobs that this statement does not see.
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

/** Notifies the workers of new jobs. */
export const notifyJobs = (db: Queryable): Promise<void> =>
  execute(db)`select pg_notify('${JOBS_CHANNEL}', '')`;

export const BATCH_FORMATS = ["native", "openai"] as const;
/** The format of a batch's input, and the default format of its output. */
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
