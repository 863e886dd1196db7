import { z } from "zod";
import { JOB_STATES, KINDS } from "../job/job.ts";
import type { Queryable } from "../store/connection/database.ts";
import { isWaiting } from "../store/investigations/approvals.ts";
import { oneRowOf, rowOf } from "../store/connection/rows.ts";
import { IS_ALIVE } from "../store/jobs/workers.ts";

const count = z.coerce.number();
const statsSchema = z.object({
  queued: count,
  running: count,
  parked: count,
  oldest_waiting_s: z.coerce.number().nullable(),
  open_batches: count,
  held: z.record(z.string(), z.number()),
  parked_for: z.record(z.string(), z.number()),
  workers: count,
  approvals_waiting: count,
});

/** What waits and runs now: jobs by state, open batches by hold reason, parked jobs by what they wait for. */
type QueueStats = z.infer<typeof statsSchema>;

/** Counts all batches but Nightdesk's own. A worker counts while its heartbeat is younger than 15 s. */
export const selectQueueStats = (db: Queryable): Promise<QueueStats> =>
  oneRowOf(db, statsSchema)`
     with open as materialized (
       select batch_id, hold_reason from nightdesk_data.batches
        where state = 'open' and origin not in ('system', 'verify')),
     waiting as materialized (
       select j.state, j.waiting_for, j.created_at from nightdesk_data.jobs j join open using (batch_id)
        where j.state in ('queued', 'running', 'parked'))
     select (select count(*) from waiting where state = 'queued') as queued,
            (select count(*) from waiting where state = 'running') as running,
            (select count(*) from waiting where state = 'parked') as parked,
            (select extract(epoch from clock_timestamp() - min(created_at)) from waiting where state = 'queued')
              as oldest_waiting_s,
            (select count(*) from open) as open_batches,
            (select coalesce(jsonb_object_agg(hold_reason, held), '{}') from (
               select hold_reason, count(*) as held from open where hold_reason is not null group by 1) h) as held,
            (select coalesce(jsonb_object_agg(coalesce(waiting_for, 'time'), parked), '{}') from (
               select waiting_for, count(*) as parked from waiting where state = 'parked' group by 1) p) as parked_for,
            (select count(*) from nightdesk_data.workers
              where ${IS_ALIVE}) as workers,
            (select count(*) from nightdesk_data.approvals where ${isWaiting("approvals")}) as approvals_waiting`;

const jobStateSchema = z.object({
  job_id: z.string(),
  batch: z.string(),
  custom_id: z.string(),
  kind: z.enum(KINDS),
  state: z.enum(JOB_STATES),
  waiting_for: z.string().nullable(),
  hold_reason: z.string().nullable(),
  created_at: z.date(),
  workers: count,
});

/** The state of a job, why it waits or why its batch is held, and how many workers are alive. */
type JobState = z.infer<typeof jobStateSchema>;

/** @param id a UUID, of the job or of one of its runs */
export const selectJobState = (db: Queryable, id: string): Promise<JobState | undefined> =>
  rowOf(db, jobStateSchema, [id])`
     select j.job_id, b.name as batch, j.custom_id, j.kind, j.state, j.waiting_for, b.hold_reason, j.created_at,
            (select count(*) from nightdesk_data.workers where ${IS_ALIVE}) as workers
       from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id)
      where j.job_id = coalesce((select r.job_id from nightdesk_data.runs r where r.run_id = $1), $1)`;
