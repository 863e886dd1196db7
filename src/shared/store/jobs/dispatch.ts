import { z } from "zod";
import { KINDS } from "../../job/job.ts";
import type { HookTarget } from "../../job/job.ts";
import type { Lane } from "../../job/kinds.ts";
import type { Queryable } from "../connection/database.ts";
import { camelRow, countRows, rowsOf } from "../connection/rows.ts";
import { guardBy } from "../connection/locks.ts";
import { ALL_ORIGINS } from "./batches.ts";
import { BLOCKED_KINDS, isDue, isInLane, LANE_KINDS } from "./due.ts";
import { MAY_RUN } from "./holds.ts";

const dispatchedSchema = camelRow({
  job_id: z.string(),
  dispatch: z.int(),
  origin: z.enum(ALL_ORIGINS),
  kind: z.enum(KINDS),
});
type Dispatched = z.infer<typeof dispatchedSchema>;

/** In each hundred places of the queue, the last ten go to the jobs that have waited longest, ahead of the usual order. */
const PLACES = 100;
const PLACES_IN_ORDER = 90;
const PLACES_BY_AGE = PLACES - PLACES_IN_ORDER;
/** Batches of equal priority take turns in blocks, so that a model host does not load models back and forth. */
const MOST_IN_A_BLOCK = 50;

/**
 * SQL condition for jobs to dispatch. Leaves out jobs that no living worker can run because a host is down, since they would only
 * move between row and queue, and jobs of lanes, which take no place in the queue.
 * Two parts help the planner, which would otherwise sort all waiting jobs. `due_at < 'infinity'` repeats a part of `isDue`,
 * because the planner can match an index condition only when it stands alone, not inside an alternative with `now()`. And for
 * `kind <> all` of an unknown array it would estimate one job in 1,000 for two kinds, and none for one.
 */
const DISPATCHABLE = `state in ('queued', 'parked') and dispatched_at is null and waits_for = 0
              and due_at < 'infinity' and ${isDue("due_at")} and not (select kinds from elsewhere) @> array[kind]`;

/**
 * Selects due jobs of open batches that are not held, marks them as dispatched and raises their dispatch, so that at most `depth`
 * jobs are in the queue. One dispatcher works at a time: while another does, nothing is selected. The caller then adds the jobs
 * to the queue; `requeueMissing` finds jobs that are lost in between.
 * The order: jobs that a user waits for; then by priority of batch plus job; then batches take turns in blocks, so that each gets
 * the same share of the queue; then by model, small files first, and in order of insertion.
 * @param alreadyDispatched how many jobs this dispatcher has dispatched so far, which determines the next places of the hundred
 */
export const dispatchDueJobs = (
  db: Queryable,
  depth: number,
  alreadyDispatched = 0,
): Promise<readonly Dispatched[]> =>
  rowsOf(db, dispatchedSchema, [depth, alreadyDispatched % PLACES])`${DISPATCH}`;

/** SQL: the number of places by age among the first `places`. */
const byAge = (places: string) =>
  `((${places}) / ${PLACES} * ${PLACES_BY_AGE} + greatest(0, (${places}) % ${PLACES} - ${PLACES_IN_ORDER}))`;

// $1 depth, $2 used places of the current hundred.
const DISPATCH = `
with ${guardBy("dispatch")},
elsewhere as materialized (select ${BLOCKED_KINDS} || ${LANE_KINDS} as kinds),
queued as materialized (
  select batch_id, count(*) as n from nightdesk_data.jobs where dispatched_at is not null group by batch_id),
room as materialized (
  select n, ${byAge("$2::int + n")} - ${byAge("$2::int")} as by_age
    from (select greatest(0, $1::int - coalesce(sum(n), 0))::int as n from queued) free),
open as materialized (
  select b.batch_id, b.origin, b.priority, b.created_at, coalesce(queued.n, 0) as queued
    from guard, nightdesk_data.batches b left join queued using (batch_id)
   where guard.held and ${MAY_RUN}),
block as materialized (
  select greatest(1, least(${MOST_IN_A_BLOCK}, $1::int / (4 * greatest(1, count(*))))) as jobs
    from open where origin = 'file'),
ordered as materialized (
  select j.job_id, open.origin, row_number() over (
           order by open.origin = 'ad_hoc' desc, open.priority + j.priority desc,
                    (open.queued + j.turn - 1) / block.jobs, j.affinity collate "C", open.created_at, open.batch_id, j.size, j.seq)
           as turn
    from room, block, open cross join lateral (
      select job_id, priority, affinity, size, seq, row_number() over () as turn from (
        select job_id, priority, affinity, size, seq from nightdesk_data.jobs
         where batch_id = open.batch_id and ${DISPATCHABLE}
         order by priority desc, affinity, size, seq limit room.n) due) j
   order by turn limit (select n from room)),
-- While there is room for all, nobody is left behind.
by_age as materialized (
  select case when (select count(*) from ordered) = n then by_age else 0 end as n, room.n - by_age as others from room),
aged as materialized (
  select j.job_id, open.origin, row_number() over (order by j.created_at, j.seq) as turn
    from by_age, open cross join lateral (
      select job_id, created_at, seq from nightdesk_data.jobs
       where batch_id = open.batch_id and ${DISPATCHABLE}
       order by created_at, seq limit by_age.n) j
   where not exists (select from ordered o where o.job_id = j.job_id and o.turn <= by_age.others)
   order by turn limit (select n from by_age)),
-- The n-th of each kind gets the n-th place of its kind.
placed as (
  select job_id, origin, n / ${PLACES_IN_ORDER} * ${PLACES} + n % ${PLACES_IN_ORDER} as place
    from (select *, least($2::int, ${PLACES_IN_ORDER}) + turn - 1 as n from ordered) o
   where not exists (select from aged where aged.job_id = o.job_id)
  union all
  select job_id, origin, n / ${PLACES_BY_AGE} * ${PLACES} + ${PLACES_IN_ORDER} + n % ${PLACES_BY_AGE}
    from (select *, greatest(0, $2::int - ${PLACES_IN_ORDER}) + turn - 1 as n from aged) a),
due as materialized (select * from placed order by place limit (select n from room)),
-- What another statement has in hand is left for the next look: waiting for rows in the order of due could
-- end in a deadlock with one that takes them in another order, such as a cancellation.
free as materialized (
  select j.job_id, due.origin, due.place from due join nightdesk_data.jobs j using (job_id)
   where j.state in ('queued', 'parked') and j.dispatched_at is null
     for no key update of j skip locked),
marked as (
  update nightdesk_data.jobs j set dispatch = dispatch + 1, dispatched_at = clock_timestamp()
    from free where j.job_id = free.job_id
  returning j.job_id, j.dispatch, j.kind, free.origin, free.place)
select job_id, dispatch, origin, kind from marked order by place`;

const deliverySchema = camelRow({ job_id: z.string(), dispatch: z.int() });
type Delivery = z.infer<typeof deliverySchema>;

/**
 * Due jobs of a lane, as deliveries, oldest first. They are not in the queue: the worker that claims a job runs it. A
 * notification about a closed batch waits until the last of its jobs has stopped.
 * @param targets of `on_batch_end` in the worker's configuration; it leaves other targets to other workers
 */
export const selectDueInLane = (
  db: Queryable,
  lane: Lane,
  targets: readonly HookTarget[],
  limit: number,
): Promise<readonly Delivery[]> =>
  rowsOf(db, deliverySchema, [targets, limit])`
     select j.job_id, j.dispatch
       from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id)
       left join nightdesk_data.batches about on about.batch_id = b.parent_id
      where ${isInLane("j.kind", lane)} and j.state in ('queued', 'parked') and ${isDue("j.due_at")} and ${MAY_RUN}
        and (j.kind <> 'notify' or j.input->>'target' = any($1::text[]))
        and about.closing is not true
        and not exists (select from nightdesk_data.jobs r where r.batch_id = about.batch_id and r.state = 'running')
      order by j.due_at, j.seq limit $2`;

/** Jobs that, by their rows, were put into the queue at least `olderThanMs` ago. */
export const selectDispatched = (
  db: Queryable,
  olderThanMs: number,
): Promise<readonly Delivery[]> =>
  rowsOf(db, deliverySchema, [olderThanMs])`
     select job_id, dispatch from nightdesk_data.jobs
      where dispatched_at < clock_timestamp() - make_interval(secs => $1::double precision / 1000)`;

/** Makes jobs due again whose delivery is no longer in the queue, after a flush, or after a crash before it was added. */
export const requeueMissing = (db: Queryable, missing: readonly Delivery[]): Promise<number> =>
  countRows(db, [missing.map(({ jobId }) => jobId), missing.map(({ dispatch }) => dispatch)])`
     with free as materialized (
       select j.job_id from nightdesk_data.jobs j
         join unnest($1::uuid[], $2::int[]) as missing (job_id, dispatch) using (job_id, dispatch)
        where j.dispatched_at is not null
          for no key update of j skip locked)
     update nightdesk_data.jobs j set dispatched_at = null from free where j.job_id = free.job_id`;

/** When two workers in a row die with a job, the job is likely the cause. */
const MAX_LOSSES = 2;

/**
 * Takes back jobs whose lease has expired by the database's clock. The first time a job becomes due again, the second time it
 * fails with WORKER_LOST.
 * @returns how many jobs were taken back
 */
export const takeBackLostJobs = (db: Queryable): Promise<number> =>
  countRows(db)`
     with lost as (
       select j.job_id, j.run_id, j.lease_until, losses + 1 >= ${MAX_LOSSES} as given_up, cancel_requested, b.state as batch_state
         from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id)
        where j.state = 'running' and lease_until < clock_timestamp()
        for update of j skip locked),
     -- What it came to died with its worker; what it cost did not.
     runs as (
       update nightdesk_data.runs r set state = 'lost', finished_at = greatest(r.started_at, lost.lease_until), error_code = 'WORKER_LOST',
              error_message = 'The worker stopped renewing its lease.',
              model_first = made.model_first, model_second = made.model_second, prompt_tokens = made.prompt_tokens,
              completion_tokens = made.completion_tokens, model_ms = made.model_ms
         from lost cross join lateral (
           select max(model) filter (where pass = 'first') as model_first,
                  max(model) filter (where pass <> 'first') as model_second,
                  coalesce(sum(prompt_tokens), 0)::integer as prompt_tokens,
                  coalesce(sum(completion_tokens), 0)::integer as completion_tokens,
                  coalesce(sum(duration_ms), 0) as model_ms
             from nightdesk_data.model_calls c
            where c.job_id = lost.job_id and c.run_id = lost.run_id and c.cached_from is null) made
        where r.run_id = lost.run_id and r.state = 'running')
     update nightdesk_data.jobs j
        set state = case when lost.cancel_requested and batch_state = 'expired' then 'expired'
                         when lost.cancel_requested then 'cancelled' when lost.given_up then 'failed' else 'queued' end,
            losses = losses + 1, lease_until = null, worker_id = null, due_at = now(),
            error_code = case when lost.cancel_requested and batch_state = 'expired' then 'DEADLINE_EXCEEDED'
                              when lost.cancel_requested then 'CANCELLED' else 'WORKER_LOST' end,
            error_message = case when lost.cancel_requested and batch_state = 'expired'
                then 'The deadline of the batch passed while it ran.'
              when lost.cancel_requested then 'Cancelled while it ran.'
              when lost.given_up then 'Two workers died while they ran this job. Look at their logs before you retry it.'
              else 'The worker that ran this job died; it is tried again.' end,
            finished_at = case when lost.given_up or lost.cancel_requested then now() end
       from lost where j.job_id = lost.job_id`;
