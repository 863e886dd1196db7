import { z } from "zod";
import { JOB_STATES, KINDS } from "../job/job.ts";
import { RUN_GRADES } from "../job/run-result.ts";
import type { Queryable } from "../store/connection/database.ts";
import { isWaiting } from "../store/investigations/approvals.ts";
import { oneRowOf, rowsOf } from "../store/connection/rows.ts";

const count = z.coerce.number();
/** A time in JSON that PostgreSQL wrote. */
const moment = z.iso.datetime({ offset: true }).transform((text) => new Date(text));

/** The notice shown while no job can run, with its remedy. */
export const NO_WORKER = "No worker is alive. Start one: nightdesk worker, or nightdesk up.";

const workStateSchema = z.object({ waiting: count, values: count, is_working: z.boolean() });
/** `waiting`: decisions for people: distinct tool calls, answers, steps with an unknown outcome, and `values`. */
export type WorkState = z.infer<typeof workStateSchema>;

export const selectWorkState = (db: Queryable): Promise<WorkState> =>
  oneRowOf(db, workStateSchema)`
     select (select count(distinct fingerprint) from nightdesk_data.approvals where ${isWaiting("approvals")})
          + (select count(*) from nightdesk_data.draft_reviews v join nightdesk_data.jobs j using (job_id)
              where v.state = 'waiting' and j.waiting_for = 'review')
          + (select count(*) from nightdesk_data.steps where state = 'uncertain')
          + v.values as waiting,
            v.values,
            exists (select from nightdesk_data.batches b
                     where b.state = 'open' and b.origin <> 'system'
                       and (select coalesce(sum(running) > 0 or b.hold_reason is null and sum(queued) between 1 and sum(total) - 1, false)
                              from nightdesk_data.batch_counts n where n.batch_id = b.batch_id)) as is_working
       from (select count(*) as values from nightdesk_data.write_backs where is_waiting) v`;

const singleJobSchema = z.object({
  job_id: z.string(),
  kind: z.enum(KINDS),
  input: z.record(z.string(), z.unknown()),
  state: z.enum(JOB_STATES),
  error_code: z.string().nullable(),
  grade: z.enum(RUN_GRADES).nullable(),
  created_at: z.date(),
});
/** A job that was queued outside a batch: mostly a question. */
export type SingleJob = z.infer<typeof singleJobSchema>;

/** Newest first. */
export const selectSingleJobs = (db: Queryable, limit: number): Promise<readonly SingleJob[]> =>
  rowsOf(db, singleJobSchema, [limit])`
     select j.job_id, j.kind, j.input, j.state, j.error_code, r.grade, j.created_at
       from (select batch_id, created_at from nightdesk_data.batches where origin = 'ad_hoc'
              order by created_at desc limit $1) b
       join nightdesk_data.jobs j using (batch_id)
       left join nightdesk_data.runs r on r.run_id = j.run_id
      order by b.created_at desc, j.seq limit $1`;

const workerSchema = z.object({
  host: z.string(),
  pid: z.number(),
  version: z.string(),
  concurrency: z.number(),
  started_at: z.date(),
  heartbeat_at: z.date(),
  is_alive: z.boolean(),
  held: z.array(
    z.object({
      job_id: z.string(),
      custom_id: z.string(),
      kind: z.enum(KINDS),
      /** Null for a job that was queued outside a batch; its input identifies it. */
      batch: z.string().nullable(),
      input: z.record(z.string(), z.unknown()).nullable(),
      started_at: moment,
      progress: z.record(z.string(), z.unknown()).nullable(),
    }),
  ),
});
/** A worker and the jobs that it runs. */
export type WorkerRow = z.infer<typeof workerSchema>;

/** Workers with a heartbeat within the last day, live ones first. */
export const selectWorkers = (db: Queryable): Promise<readonly WorkerRow[]> =>
  rowsOf(db, workerSchema)`
     select w.host, w.pid, w.version, w.concurrency, w.started_at, w.heartbeat_at, w.is_alive,
            (select coalesce(jsonb_agg(jsonb_build_object('job_id', j.job_id, 'custom_id', j.custom_id, 'kind', j.kind,
                      'batch', case when b.origin <> 'ad_hoc' then b.name end,
                      'input', case when b.origin = 'ad_hoc' then j.input end, 'started_at', j.started_at, 'progress', p.progress - 'steps') order by j.started_at), '[]')
               from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id)
               left join nightdesk_data.job_progress p using (job_id)
              where j.state = 'running' and j.worker_id = w.worker_id) as held
       from nightdesk.workers w where w.heartbeat_at > clock_timestamp() - interval '1 day'
      order by w.is_alive desc, w.host, w.pid limit 50`;

const queueSchema = z.object({
  dispatched: count,
  oldest_at: z.date().nullable(),
  oldest_batch: z.string().nullable(),
});
/** The count of dispatched jobs, and the oldest waiting job that may run. */
export type QueueRow = z.infer<typeof queueSchema>;

export const selectQueue = (db: Queryable): Promise<QueueRow> =>
  oneRowOf(db, queueSchema)`
     select (select count(*) from nightdesk_data.jobs where dispatched_at is not null) as dispatched,
            o.created_at as oldest_at, o.name as oldest_batch
       from (select) one
       left join lateral (
         select j.created_at, case when b.origin <> 'ad_hoc' then b.name end as name
           from nightdesk_data.batches b
          cross join lateral (
            select created_at from nightdesk_data.jobs j
             where j.batch_id = b.batch_id and j.state in ('queued', 'parked') and j.dispatched_at is null
               and j.waits_for = 0 and j.due_at < 'infinity'
             order by j.created_at, j.seq limit 1) j
          where b.state = 'open' and b.origin <> 'system'
          order by j.created_at limit 1) o on true`;

const paceSchema = z.object({
  batch_id: z.string(),
  jobs: count,
  prompt_tokens: count,
  completion_tokens: count,
  seconds: count,
});
/** The jobs of a batch that ended recently, with their tokens. */
export type BatchPace = z.infer<typeof paceSchema>;

const MOST_RUNS = 2_000;

/** Throughput of each batch in the last 15 minutes, from at most MOST_RUNS newest runs. */
export const selectPace = (db: Queryable): Promise<readonly BatchPace[]> =>
  rowsOf(db, paceSchema)`
     with recent as materialized (
       select job_id, finished_at, prompt_tokens, completion_tokens from nightdesk_data.runs
        where finished_at > clock_timestamp() - interval '15 minutes' and state in ('succeeded', 'refused', 'failed')
        order by finished_at desc limit ${MOST_RUNS})
     select j.batch_id, count(*) as jobs, sum(r.prompt_tokens) as prompt_tokens, sum(r.completion_tokens) as completion_tokens,
            greatest(1, extract(epoch from clock_timestamp() - min(r.finished_at))) as seconds
       from recent r join nightdesk_data.jobs j using (job_id) group by 1`;

const budgetSchema = z.object({
  scope: z.enum(["batch", "night"]),
  batch_id: z.string().nullable(),
  tokens_limit: count.nullable(),
  tokens_used: count,
  calls_limit: count.nullable(),
  calls_used: count,
  seconds_limit: count.nullable(),
  seconds_used: count,
  money_limit: z.number().nullable(),
  money_used: z.number(),
});
/** The used amounts and limits of a budget. A null limit does not apply. */
export type BudgetRow = z.infer<typeof budgetSchema>;

/** Budgets of open batches, and of the current night. */
export const selectBudgets = (db: Queryable): Promise<readonly BudgetRow[]> =>
  rowsOf(db, budgetSchema)`
     select u.scope, u.batch_id, u.tokens_limit, u.tokens_used, u.calls_limit, u.calls_used, u.seconds_limit, u.seconds_used,
            u.money_limit, u.money_used
       from nightdesk.budgets u left join nightdesk_data.batches b using (batch_id)
      where b.state = 'open' or u.scope = 'night' and u.night in (select night from nightdesk_data.nights where ends_at > clock_timestamp())
      order by u.scope desc, u.batch_id limit 100`;
