import { z } from "zod";
import type { Queryable } from "../database.ts";

const LOCK_KEY = 7_301_001;

const dispatchedSchema = z.array(
  z.object({ job_id: z.string(), dispatch: z.int(), origin: z.enum(["file", "ad_hoc"]) }),
);
export type Dispatched = {
  readonly jobId: string;
  readonly dispatch: number;
  readonly origin: "file" | "ad_hoc";
};

/**
 * Chooses due jobs of open batches that are not held, marks them as dispatched and raises their dispatch, so
 * that at most `depth` jobs are in the queue. One dispatcher at a time: when another is at it, nothing is
 * chosen. The caller puts them into the queue afterwards; what is lost in between, `requeueMissing` finds.
 */
export async function dispatchDueJobs(
  db: Queryable,
  depth: number,
): Promise<readonly Dispatched[]> {
  const { rows } = await db.query(
    `with guard as materialized (select pg_try_advisory_xact_lock(${LOCK_KEY}) as held),
     room as materialized (
       select greatest(0, $1 - count(*)) as n from nightdesk_data.jobs where dispatched_at is not null),
     due as materialized (
       select j.job_id, b.origin, row_number() over (
                order by b.origin = 'ad_hoc' desc, j.priority desc, b.created_at, b.batch_id, j.affinity, j.seq) as place
         from guard, room, nightdesk_data.batches b
        cross join lateral (
           select job_id, priority, affinity, seq from nightdesk_data.jobs
            where batch_id = b.batch_id and state in ('queued', 'parked') and dispatched_at is null
              and due_at <= now()
            order by priority desc, affinity, seq limit room.n) j
        where guard.held and b.state = 'open' and b.hold_reason is null
        order by place limit (select n from room)),
     -- What another statement has in hand is left for the next look: waiting for rows in the order of due could
     -- end in a deadlock with one that takes them in another order, such as a cancellation.
     free as materialized (
       select j.job_id, due.origin, due.place from due join nightdesk_data.jobs j using (job_id)
        where j.state in ('queued', 'parked') and j.dispatched_at is null
          for no key update of j skip locked),
     marked as (
       update nightdesk_data.jobs j set dispatch = dispatch + 1, dispatched_at = clock_timestamp()
         from free where j.job_id = free.job_id
       returning j.job_id, j.dispatch, free.origin, free.place)
     select job_id, dispatch, origin from marked order by place`,
    [depth],
  );
  return dispatchedSchema
    .parse(rows)
    .map(({ job_id, dispatch, origin }) => ({ jobId: job_id, dispatch, origin }));
}

const inQueueSchema = z.array(z.object({ job_id: z.string(), dispatch: z.int() }));
export type InQueue = { readonly jobId: string; readonly dispatch: number };

/** Jobs whose delivery has been in the queue for some seconds, as far as the rows know. */
export async function selectDispatched(
  db: Queryable,
  olderThanMs: number,
): Promise<readonly InQueue[]> {
  const { rows } = await db.query(
    `select job_id, dispatch from nightdesk_data.jobs
      where dispatched_at < clock_timestamp() - make_interval(secs => $1::double precision / 1000)`,
    [olderThanMs],
  );
  return inQueueSchema.parse(rows).map(({ job_id, dispatch }) => ({ jobId: job_id, dispatch }));
}

/** Makes jobs due again whose delivery is in the queue no more: after a flush, or a crash on the way there. */
export async function requeueMissing(db: Queryable, missing: readonly InQueue[]): Promise<number> {
  const { rowCount } = await db.query(
    `with free as materialized (
       select j.job_id from nightdesk_data.jobs j
         join unnest($1::uuid[], $2::int[]) as missing (job_id, dispatch) using (job_id, dispatch)
        where j.dispatched_at is not null
          for no key update of j skip locked)
     update nightdesk_data.jobs j set dispatched_at = null from free where j.job_id = free.job_id`,
    [missing.map(({ jobId }) => jobId), missing.map(({ dispatch }) => dispatch)],
  );
  return rowCount ?? 0;
}

/** A worker that dies with a job twice in a row is likely killed by it. */
const MAX_LOSSES = 2;

/**
 * Takes jobs back whose lease has run out by the database's clock. The first time the job is due again, the
 * second time it failed with WORKER_LOST.
 * @returns how many jobs were taken back
 */
export async function takeBackLostJobs(db: Queryable): Promise<number> {
  const { rowCount } = await db.query(
    `with lost as (
       select job_id, run_id, losses + 1 >= ${MAX_LOSSES} as given_up, cancel_requested
         from nightdesk_data.jobs
        where state = 'running' and lease_until < clock_timestamp()
        for update skip locked),
     runs as (
       update nightdesk_data.runs r set state = 'lost', finished_at = now(), error_code = 'WORKER_LOST',
              error_message = 'The worker stopped renewing its lease.'
         from lost where r.run_id = lost.run_id and r.state = 'running')
     update nightdesk_data.jobs j
        set state = case when lost.cancel_requested then 'cancelled'
                         when lost.given_up then 'failed' else 'queued' end,
            losses = losses + 1, lease_until = null, worker_id = null, due_at = now(),
            error_code = case when lost.cancel_requested then 'CANCELLED' else 'WORKER_LOST' end,
            error_message = case when lost.cancel_requested then 'Cancelled while it ran.'
              when lost.given_up then 'Two workers died while they ran this job. Look at their logs before you retry it.'
              else 'The worker that ran this job died; it is tried again.' end,
            finished_at = case when lost.given_up or lost.cancel_requested then now() end
       from lost where j.job_id = lost.job_id`,
  );
  return rowCount ?? 0;
}
