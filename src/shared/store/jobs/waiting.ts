import { z } from "zod";
import { JOB_STATES, KINDS } from "../../job/job.ts";
import type { Queryable } from "../connection/database.ts";
import { camelRow, oneRowOf, rowOf, rowsOf, valueOf } from "../connection/rows.ts";
import { isDue, lacksFiles } from "./due.ts";
import { HOLD_REASONS, MAY_RUN } from "./holds.ts";

const waitingSchema = camelRow({
  job_id: z.string(),
  custom_id: z.string(),
  kind: z.enum(KINDS),
  state: z.enum(JOB_STATES),
  run_id: z.string().nullable(),
  code: z.string().nullable(),
  message: z.string().nullable(),
  due_in_seconds: z.coerce.number().nullable(),
  progress: z.record(z.string(), z.unknown()).nullable(),
  hold_reason: z.enum(HOLD_REASONS).nullable(),
  hold_until: z.date().nullable(),
  batch_state: z.string(),
});

/** State of a job, for a user who waits for it. `dueInSeconds` is null for a job held back while its batch loads. */
export type WaitingJob = z.infer<typeof waitingSchema>;

/** The jobs of a small batch, in order: the job of an ad-hoc command, and those that its worker added. */
export const selectWaitingJobs = (db: Queryable, batchId: string): Promise<readonly WaitingJob[]> =>
  rowsOf(db, waitingSchema, [batchId])`
     select j.job_id, j.custom_id, j.kind, j.state, j.run_id, j.error_code as code, j.error_message as message,
            case when ${isDue("j.due_at")} then 0
                 when isfinite(j.due_at) then greatest(0, extract(epoch from j.due_at - clock_timestamp())) end
              as due_in_seconds,
            p.progress, b.hold_reason, b.hold_until, b.state as batch_state
       from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id)
       left join nightdesk_data.job_progress p using (job_id)
      where j.batch_id = $1 order by j.seq limit 100`;

const openIndexSchema = camelRow({ job_id: z.string(), batch_id: z.string(), batch: z.string() });

/** A waiting or running index job of all sources, which makes another one needless. */
export const findOpenIndexJob = (
  db: Queryable,
): Promise<z.infer<typeof openIndexSchema> | undefined> =>
  rowOf(db, openIndexSchema)`
     select j.job_id, j.batch_id, b.name as batch
       from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id)
      where b.state = 'open' and b.hold_reason is null and j.kind = 'index' and j.state in ('queued', 'running')
        and (j.input -> 'options' ? 'source') is not true
      order by j.seq desc limit 1`;

/**
 * Whether there is work now that needs a worker:
 * - a job of a batch that may run is running or due. A parked job is not due before its time, nor is a job that waits for others
 *   or whose batch is held. A job that waits for an exam counts, since that takes at most half an hour;
 * - jobs of a batch that was closed, or whose deadline has passed, must be ended;
 * - a worker died with a job, or with a reservation of a budget that holds a batch;
 * - a host that holds a batch is due for a probe, or is being probed.
 */
export const hasWork = (db: Queryable): Promise<boolean> =>
  valueOf(db, z.boolean())`
     select exists (select from nightdesk_data.batches where closing)
         or exists (select from nightdesk_data.jobs where state = 'running' and lease_until < clock_timestamp())
         or exists (
       select from nightdesk_data.batches b
        where b.state = 'open' and b.deadline_at <= clock_timestamp()
          and exists (select from nightdesk_data.jobs j where j.batch_id = b.batch_id
                         and j.state in ('queued', 'parked')))
         or exists (select from nightdesk_data.batches where state = 'open' and hold_reason = 'host')
        and exists (select from nightdesk_data.hosts
                     where state = 'open' and (next_probe_at <= clock_timestamp() or probing_until > clock_timestamp()))
         or exists (select from nightdesk_data.batches where state = 'open' and hold_reason = 'budget')
        and exists (select from nightdesk_data.reservations where not nightdesk_data.has_its_job(run_id))
         or exists (
       select from nightdesk_data.batches b
        where b.origin <> 'system' and ${MAY_RUN} and (
              exists (select from nightdesk_data.jobs j where j.batch_id = b.batch_id and j.state = 'running')
           or exists (select from nightdesk_data.jobs j where j.batch_id = b.batch_id
                         and j.dispatched_at is not null and ${isDue("j.due_at")})
           or exists (select from nightdesk_data.jobs j where j.batch_id = b.batch_id
                         and j.state in ('queued', 'parked') and j.dispatched_at is null and j.waits_for = 0
                         and ${isDue("j.due_at")} and not ${lacksFiles("j.kind")})
           or exists (select from nightdesk_data.jobs j where j.batch_id = b.batch_id and j.waiting_for = 'exam'))
     ) as work`;

const count = z.coerce.number();

const hostWaitSchema = z.object({ jobs: count, hosts: z.array(z.string()) });

/** The number of jobs of open batches that wait only for the return of a host, and the hosts that were down or busy. */
export const selectWaitingForHosts = (db: Queryable): Promise<z.infer<typeof hostWaitSchema>> =>
  oneRowOf(db, hostWaitSchema)`
     select count(*) as jobs,
            coalesce(array_agg(distinct j.parked_host order by j.parked_host) filter (where j.parked_host is not null), '{}')
              as hosts
       from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id)
      where b.state = 'open' and b.origin <> 'system' and j.state in ('queued', 'parked')
        and (b.hold_reason = 'host' or b.hold_reason is null and j.waiting_for = 'host')`;

/** The part of a job's work for the rest of the prompt and the reply, in bytes. */
export const WORK_WITHOUT_BYTES = 1_200;
/** SQL: estimated work of a job, in bytes: its file, its input, and that part. */
const WORK = `${WORK_WITHOUT_BYTES} + j.size + pg_column_size(j.input)`;

/** Most runs, the newest of all batches, for estimates of work and pace. */
const MOST_RECENT = 5_000;
/** A longer pause between two runs means that no job could start, so it does not count as work. */
const MOST_IDLE_SECONDS = 1;

/** Jobs of one kind and one model have similar costs. */
const group = { kind: z.string(), affinity: z.string() };
const left = z.object({ ...group, jobs: count, work: count });
const spent = z.object({
  ...group,
  own: z.boolean(),
  jobs: count,
  work: count,
  per_work: count,
  seconds: count,
  seconds_per_work: count,
});

/** Unfinished jobs of one kind and model, with the sum of their work. */
export type WorkLeft = z.infer<typeof left>;

/**
 * Cost of the runs of one kind and model: their number, and the sums of their work, of 1/work, of seconds, and of seconds/work.
 * The seconds of a run count from the end of the run before it, of any kind, so that they add up to elapsed time however many
 * runs are concurrent. `own`: runs of the given batch.
 */
export type WorkSpent = z.infer<typeof spent>;

/** The work of all unfinished jobs of a batch. Reads each of them: half a second of CPU for a million. */
export const selectWorkLeft = (db: Queryable, batchId: string): Promise<readonly WorkLeft[]> =>
  rowsOf(db, left, [batchId])`
     select j.kind, j.affinity, count(*) as jobs, sum(${WORK}) as work from nightdesk_data.jobs j
      where j.batch_id = $1 and j.state in ('queued', 'running', 'parked') group by 1, 2 order by 1, 2`;

/** The cost of the last 5,000 runs, by kind and model, for this batch and for all others. */
export const selectWorkSpent = (db: Queryable, batchId: string): Promise<readonly WorkSpent[]> =>
  rowsOf(db, spent, [batchId])`
     with recent as materialized (
       select job_id, finished_at, run_ms from nightdesk_data.runs
        where finished_at is not null and state in ('succeeded', 'refused', 'failed')
        order by finished_at desc limit ${MOST_RECENT}),
     timed as (
       select j.kind, j.affinity, j.batch_id = $1 as own, ${WORK} as work, r.run_ms,
              extract(epoch from r.finished_at - lag(r.finished_at) over (order by r.finished_at)) as passed
         from recent r join nightdesk_data.jobs j using (job_id) where j.kind <> 'notify'),
     measured as (
       select *, least(passed, run_ms / 1000 + ${MOST_IDLE_SECONDS}) as seconds from timed where passed is not null)
     select kind, affinity, own, count(*) as jobs, sum(work) as work, sum(1.0 / work) as per_work,
            sum(seconds) as seconds, sum(seconds / work) as seconds_per_work
       from measured group by 1, 2, 3 order by 1, 2, 3`;

/** `share`: this batch's part of all runs since its first one, 0 to 1. */
const paceSchema = z.object({ tokens: count, seconds: count, share: count });

/** The pace of a batch in the last five minutes, or in the time of the last 5,000 runs if shorter; 0 before two have ended. */
export const selectPace = (db: Queryable, batchId: string): Promise<z.infer<typeof paceSchema>> =>
  oneRowOf(db, paceSchema, [batchId])`
     with recent as materialized (
       select r.finished_at, r.prompt_tokens + r.completion_tokens as tokens, r.run_ms, j.batch_id = $1 as own,
              min(r.finished_at) filter (where j.batch_id = $1) over () as first
         from (select job_id, finished_at, run_ms, prompt_tokens, completion_tokens from nightdesk_data.runs
                where finished_at > clock_timestamp() - interval '5 min'
                order by finished_at desc limit ${MOST_RECENT}) r
         join nightdesk_data.jobs j using (job_id) where j.kind <> 'notify')
     -- What ended first began before the time that is measured.
     select coalesce(sum(tokens) filter (where own), 0) as tokens,
            coalesce(extract(epoch from clock_timestamp() - min(first)), 0) as seconds,
            coalesce(sum(run_ms) filter (where own) / nullif(sum(run_ms), 0), 1) as share
       from recent where finished_at > first`;
