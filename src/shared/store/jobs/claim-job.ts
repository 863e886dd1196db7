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
  /** The fencing token: the result is written only while the row names this run. */
  run_id: z.string(),
  input: jobInputSchema,
  /** Counts from 1. */
  attempt: z.int(),
  max_attempts: z.int(),
  parks: z.int(),
  broken_calls: z.int(),
  dispatch: z.int(),
  /** Index of the answering model in verify.tiers, from 0. */
  tier: z.int(),
  /** Whether an earlier attempt left model calls whose replies can be reused. */
  has_calls: z.boolean(),
  /** `traceparent` of the span that queued its batch, and the batch's origin; null without tracing. */
  trace: z.object({ context: z.string(), origin: z.string() }).nullable(),
});
export type ClaimedJob = z.infer<typeof claimedSchema>;

const CLAIMED = `job_id, batch_id, custom_id, run_id, input, attempt, max_attempts, parks, broken_calls, dispatch, tier,
       exists (select from nightdesk_data.model_calls m where m.job_id = claimed.job_id) as has_calls,
       (select json_build_object('context', b.trace_context, 'origin', b.origin)
          from nightdesk_data.batches b where b.batch_id = claimed.batch_id and b.trace_context is not null) as trace`;

/** How long a run owns its job without renewal, by the database's clock. */
export const LEASE_SECONDS = 15;

/**
 * Claims a job for a new run, if the delivery is the row's current one, the job is due, its batch is open, not held, within its
 * window and before its deadline, by the database's clock, and no host that this worker needs for it is down. One of any number
 * of deliveries succeeds. The commit does not wait for the disk: a server that crashes soon after may lose the claim and
 * everything that the run wrote since, and then the job is due as before. Only claims of jobs in a lane, which act outside of the
 * database, wait for the disk.
 * @param runId the same again after a lost reply: the claim may have succeeded
 * @returns the job, or undefined when it can't be claimed
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

/** Whether a delivery is its row's current one, but this worker can't claim it because one of its hosts is down. */
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

/** Why a run must stop; null while it may continue. */
type Stop = "cancelled" | "expired" | null;

const STOP = `case when b.state in ('cancelled', 'expired') then b.state when j.cancel_requested then 'cancelled' end as stop`;

type RenewedLeases = {
  /** Whether each run must stop, by run id; a missing run has lost its lease. */
  readonly stops: ReadonlyMap<string, Stop>;
  /** The number of runs whose job was locked: renew them soon. */
  readonly busy: number;
};

/** Renews the leases of the current runs. Skips locked jobs, as the recovery of lost jobs does: else all leases would wait. */
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
 * Stores the progress of a run, as `{done, total, unit}` or by its steps; nothing when the run has lost its job. Waits for a
 * transaction that ends the run at this moment, so that no row is written after the end.
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
 * Locks the job of a run until the caller's transaction ends, so that no other process takes it back or ends it.
 * @returns false when the run has lost its job already
 */
export const lockJob = (db: Queryable, runId: string): Promise<boolean> =>
  anyRow(db, [runId])`
     select from nightdesk_data.jobs where run_id = $1 and state = 'running' for share`;
