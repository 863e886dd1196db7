import { randomUUID } from "node:crypto";
import { z } from "zod";
import { jobInputSchema } from "../../job/job.ts";
import type { Queryable } from "../connection/database.ts";
import { anyRow, camelRow, execute, rowOf, rowsOf } from "../connection/rows.ts";
import { blockedBy, isDue, LANE_KINDS } from "./due.ts";
import { MAY_RUN } from "./holds.ts";

const claimedSchema = camelRow({
  job_id: z.string(),
  batch_id: z.string(),
  custom_id: z.string(),
  /** The fencing token: the result is written only while the row still names this run. */
  run_id: z.string(),
  input: jobInputSchema,
  /** Counts from 1. */
  attempt: z.int(),
  max_attempts: z.int(),
  parks: z.int(),
  broken_calls: z.int(),
  dispatch: z.int(),
  /** Which model of verify.tiers answers, from 0. */
  tier: z.int(),
  /** Whether an earlier attempt left model calls whose replies may be taken. */
  has_calls: z.boolean(),
  /** Within which span its batch was queued, as a `traceparent`, and what kind of batch it is; null where nobody traced. */
  trace: z.object({ context: z.string(), origin: z.string() }).nullable(),
});
export type ClaimedJob = z.infer<typeof claimedSchema>;

const CLAIMED = `job_id, batch_id, custom_id, run_id, input, attempt, max_attempts, parks, broken_calls, dispatch, tier,
       exists (select from nightdesk_data.model_calls m where m.job_id = claimed.job_id) as has_calls,
       (select json_build_object('context', b.trace_context, 'origin', b.origin)
          from nightdesk_data.batches b where b.batch_id = claimed.batch_id and b.trace_context is not null) as trace`;

/** How long a run holds its job without renewing, by the database's clock. */
export const LEASE_SECONDS = 15;

/**
 * Claims a job for a new run, if the delivery is the row's current one, the job is due and its batch is open,
 * not held, within its window and before its deadline, by the database's clock, and no host is down that this worker
 * needs for it. Of any number of deliveries one claims. A server that is killed in the next moments may forget the claim,
 * and then all that the run wrote since: the job is due as before. Claims of jobs that act outside of the database, those
 * of a lane, are waited for.
 * @param runId to be given again when the reply to a claim was lost with its connection: the claim may have been made
 * @returns the job, or undefined when there is nothing to do
 */
export const claimJob = (
  db: Queryable,
  delivery: { readonly jobId: string; readonly dispatch: number },
  workerId: string,
  runId: string = randomUUID(),
): Promise<ClaimedJob | undefined> =>
  rowOf(db, claimedSchema, [delivery.jobId, delivery.dispatch, workerId, runId], "claim_job")`
     with claimed as (
       update nightdesk_data.jobs j
          set state = 'running', run_id = $4, worker_id = $3, attempt = attempt + 1,
              lease_until = clock_timestamp() + interval '${LEASE_SECONDS} s', dispatched_at = null, parked_host = null, waiting_for = null,
              started_at = coalesce(started_at, clock_timestamp())
         from nightdesk_data.batches b
        where j.job_id = $1 and j.dispatch = $2 and j.state in ('queued', 'parked') and ${isDue("j.due_at")}
          and b.batch_id = j.batch_id and ${MAY_RUN}
          and not exists (select from nightdesk_data.workers w where w.worker_id = $3 and ${blockedBy("j.kind", "w")})
       returning j.*),
     run as (
       insert into nightdesk_data.runs (run_id, job_id, attempt, worker_id, started_at, queued_ms)
       select run_id, job_id, attempt, worker_id, clock_timestamp(),
              greatest(0, extract(epoch from clock_timestamp() - due_at)) * 1000
         from claimed)
     select ${CLAIMED} from claimed cross join lateral (
       select case when kind <> all (${LANE_KINDS}) then nightdesk_data.commit_later() end) later
      union all select ${CLAIMED} from nightdesk_data.jobs claimed where run_id = $4 and state = 'running'`;

/** Whether a delivery is its row's current one, but this worker can't claim it while a host of its own is down. */
export const isLeftToOthers = (
  db: Queryable,
  delivery: { readonly jobId: string; readonly dispatch: number },
  workerId: string,
): Promise<boolean> =>
  anyRow(db, [delivery.jobId, delivery.dispatch, workerId])`
     select from nightdesk_data.jobs j, nightdesk_data.workers w
      where j.job_id = $1 and j.dispatch = $2 and j.state in ('queued', 'parked') and j.dispatched_at is not null
        and w.worker_id = $3 and ${blockedBy("j.kind", "w")}`;

const renewedSchema = z.object({
  run_id: z.string(),
  stop: z.enum(["cancelled", "expired"]).nullable(),
  renewed: z.boolean(),
});

/** Why a run is to stop; null while it is not. */
type Stop = "cancelled" | "expired" | null;

const STOP = `case when b.state in ('cancelled', 'expired') then b.state when j.cancel_requested then 'cancelled' end as stop`;

type RenewedLeases = {
  /** By run id, whether it is to stop; a run that is missing has lost its lease. */
  readonly stops: ReadonlyMap<string, Stop>;
  /** Runs of which a transaction held the job: those are to be renewed soon. */
  readonly busy: number;
};

/**
 * Renews the leases of runs in hand. A job that a transaction holds is passed over, as it is by whoever takes back lost jobs:
 * the leases of all others would wait for it.
 */
export async function renewLeases(
  db: Queryable,
  runIds: readonly string[],
): Promise<RenewedLeases> {
  const found = await rowsOf(db, renewedSchema, [runIds])`
     with held as materialized (
       select job_id from nightdesk_data.jobs
        where run_id = any($1::uuid[]) and state = 'running'
        order by seq for no key update skip locked),
     renewed as (
       update nightdesk_data.jobs j
          set lease_until = clock_timestamp() + interval '${LEASE_SECONDS} s'
         from held, nightdesk_data.batches b
        where j.job_id = held.job_id and b.batch_id = j.batch_id
       returning j.run_id, ${STOP})
     select run_id, stop, true as renewed from renewed
      union all
     select j.run_id, ${STOP}, false
       from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id)
      where j.run_id = any($1::uuid[]) and j.state = 'running' and j.job_id not in (select job_id from held)`;
  return {
    stops: new Map(found.map(({ run_id, stop }) => [run_id, stop])),
    busy: found.filter(({ renewed }) => !renewed).length,
  };
}

/**
 * Says how far a run is, as `{done, total, unit}` or by its steps; nothing where the run has lost its job. It waits for
 * whoever ends the run in this moment, so that no row is written behind the end.
 */
export const reportProgress = (
  db: Queryable,
  runId: string,
  progress: Readonly<Record<string, unknown>>,
): Promise<void> =>
  execute(db, [runId, JSON.stringify(progress)])`
     insert into nightdesk_data.job_progress (job_id, run_id, progress)
     select job_id, run_id, $2::jsonb from nightdesk_data.jobs where run_id = $1 and state = 'running' for share
     on conflict (job_id) do update set run_id = excluded.run_id, progress = excluded.progress`;

/**
 * Keeps the job of a run in hand until the caller's transaction ends: nobody takes it back or ends it meanwhile.
 * @returns false when the run has lost its job already
 */
export const holdJob = (db: Queryable, runId: string): Promise<boolean> =>
  anyRow(db, [runId])`
     select from nightdesk_data.jobs where run_id = $1 and state = 'running' for share`;
