import { z } from "zod";
import type { Queryable } from "../store/connection/database.ts";
import { camelRow, rowOf, rowsOf, valueOf, valuesOf } from "../store/connection/rows.ts";
import { BATCH_ORIGINS } from "../store/jobs/batches.ts";
import type { BatchOrigin } from "../store/jobs/batches.ts";
import { HOLD_REASONS } from "../store/jobs/holds.ts";
import { PINS } from "../store/jobs/retention.ts";

const count = z.coerce.number();
const progressSchema = camelRow({
  batch_id: z.string(),
  name: z.string(),
  origin: z.enum(BATCH_ORIGINS),
  state: z.enum(["loading", "queued", "running", "held", "completed", "cancelled", "expired"]),
  hold_reason: z.enum(HOLD_REASONS).nullable(),
  hold_until: z.date().nullable(),
  paused_at: z.date().nullable(),
  /** Its own windows; null when the default windows of the installation apply. */
  windows: z.array(z.string()).nullable(),
  desk_windows: z.array(z.string()),
  deadline_at: z.date().nullable(),
  priority: z.int(),
  total: count,
  counts: z.object({
    queued: count,
    running: count,
    parked: count,
    succeeded: count,
    refused: count,
    failed: count,
    cancelled: count,
    expired: count,
  }),
  created_at: z.date(),
  finished_at: z.date().nullable(),
  /** Exempt from retention: for ever, or until it is exported. */
  pinned: z.enum(PINS).nullable(),
  /** Stored tool output: its bytes, and how many outputs were cut. */
  outputs: z.object({ bytes: count, cut: count }),
});

/** A batch with its counts by state, which add up to its total. */
export type BatchProgress = z.infer<typeof progressSchema>;

const SELECT = `select p.batch_id, p.batch as name, b.origin, p.state, p.hold_reason, b.hold_until, b.paused_at, b.windows,
       (select windows from nightdesk_data.installation) as desk_windows, b.deadline_at, b.priority, p.total, to_jsonb(p) as counts,
       p.created_at, p.finished_at, p.pinned, jsonb_build_object('bytes', p.output_bytes, 'cut', p.outputs_cut) as outputs
  from nightdesk.batch_progress p join nightdesk_data.batches b on b.batch_id = p.batch_id`;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const isUuid = (text: string): boolean => UUID.test(text);

/** The batch with this name or full id. A name wins over an id. */
export const findBatch = (db: Queryable, nameOrId: string): Promise<BatchProgress | undefined> =>
  rowOf(db, progressSchema, [nameOrId, isUuid(nameOrId) ? nameOrId : null])`
     ${SELECT} where b.name = $1 or b.batch_id = $2::uuid order by b.name = $1 desc limit 1`;

/** The batches with these ids, in no particular order. */
export const findBatches = (
  db: Queryable,
  batchIds: readonly string[],
): Promise<readonly BatchProgress[]> =>
  rowsOf(db, progressSchema, [batchIds])`${SELECT} where b.batch_id = any($1::uuid[])`;

const usageSchema = z.object({ read: count.nullable(), written: count.nullable() });

/** Tokens that all runs of a batch read and wrote; undefined if no run called a model, or no host reported tokens. */
export async function selectTokens(
  db: Queryable,
  batchId: string,
): Promise<{ readonly read: number; readonly written: number } | undefined> {
  const found = await rowOf(db, usageSchema, [batchId])`
     select sum(r.prompt_tokens) as read, sum(r.completion_tokens) as written
       from nightdesk_data.jobs j join nightdesk_data.runs r using (job_id) where j.batch_id = $1`;
  const { read = null, written = null } = found ?? {};
  return read === null && written === null ? undefined : { read: read ?? 0, written: written ?? 0 };
}

/** Batches of these origins, newest first. open: only those with work left. */
export const listBatches = (
  db: Queryable,
  origins: readonly BatchOrigin[],
  limit: number,
  which: "all" | "open" = "all",
): Promise<readonly BatchProgress[]> =>
  rowsOf(db, progressSchema, [origins, limit])`
     ${SELECT} where b.batch_id in (
       select batch_id from nightdesk_data.batches where origin = any($1)${which === "open" ? " and state = 'open'" : ""}
        order by created_at desc, name limit $2)
      order by b.created_at desc, b.name`;

const DAY_MS = 86_400_000;

/** Urgency: 0 held for a removable cause, 1 failed jobs, 2 refused jobs, 3 running or waiting for its window, 4 done or old. */
export function needOf(batch: BatchProgress): number {
  const { holdReason, finishedAt, counts } = batch;
  if (finishedAt === null) return holdReason === null || holdReason === "window" ? 3 : 0;
  if (Date.now() - finishedAt.getTime() > DAY_MS) return 4;
  if (counts.failed + counts.expired > 0) return 1;
  return counts.refused > 0 ? 2 : 4;
}

export const countBatches = (db: Queryable, origin: BatchOrigin): Promise<number> =>
  valueOf(db, count, [origin])`
     select count(*) as batches from nightdesk_data.batches where origin = $1`;

/** Names of the newest batches, from which an unknown name gets its suggestion. */
export const selectBatchNames = (db: Queryable, limit: number): Promise<readonly string[]> =>
  valuesOf(db, z.string(), [limit])`
     select name from nightdesk_data.batches where parent_id is null order by created_at desc, name limit $1`;

const problemSchema = camelRow({
  state: z.string(),
  code: z.string(),
  jobs: count,
  custom_ids: z.array(z.string()),
  message: z.string(),
  model: z.string().nullable(),
});

/** Jobs with one state and code: the count, the first five custom_ids, and message and model of the first job. */
export type ProblemGroup = z.infer<typeof problemSchema>;

/** What did not succeed in a batch, by state and code, most first. */
export const selectProblems = (db: Queryable, batchId: string): Promise<readonly ProblemGroup[]> =>
  rowsOf(db, problemSchema, [batchId])`${PROBLEMS}`;

/** SQL: the states and codes of a batch $1. A million jobs may have one code: it reads the index jobs_with_problems once each. */
export const WITH_GROUPS = `with recursive groups as (
  (select state, error_code from nightdesk_data.jobs
    where batch_id = $1 and error_code is not null order by state, error_code limit 1)
   union all
  select n.state, n.error_code from groups g
   cross join lateral (
     select state, error_code from nightdesk_data.jobs
      where batch_id = $1 and error_code is not null and (state, error_code) > (g.state, g.error_code)
      order by state, error_code limit 1) n)`;

// A group that holds all jobs of its final state needs no count: batch_counts has it.
const PROBLEMS = `
${WITH_GROUPS},
counted as (
  select g.state, g.error_code,
         case when g.state in ('refused', 'failed', 'cancelled', 'expired')
                   and (select count(*) from groups o where o.state = g.state) = 1
              then (select sum(case g.state when 'refused' then refused when 'failed' then failed
                                            when 'cancelled' then cancelled else expired end)
                      from nightdesk_data.batch_counts where batch_id = $1)
              else (select count(*) from nightdesk_data.jobs j
                     where j.batch_id = $1 and j.state = g.state and j.error_code = g.error_code) end as jobs
    from groups g where g.state <> 'running')
select c.state, c.error_code as code, c.jobs, array_agg(f.custom_id order by f.seq) as custom_ids,
       (array_agg(f.error_message order by f.seq))[1] as message,
       (select coalesce(r.model_second, r.model_first) from nightdesk_data.runs r
         where r.run_id = (array_agg(f.run_id order by f.seq))[1]) as model
  from counted c
 cross join lateral (
   select custom_id, error_message, seq, run_id from nightdesk_data.jobs j
    where j.batch_id = $1 and j.state = c.state and j.error_code = c.error_code order by seq limit 5) f
 group by c.state, c.error_code, c.jobs order by c.jobs desc, c.state, c.error_code`;
