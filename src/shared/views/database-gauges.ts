import { z } from "zod";
import { HOLD_REASONS } from "../store/jobs/holds.ts";
import type { Queryable } from "../store/connection/database.ts";
import { isWaiting } from "../store/investigations/approvals.ts";
import { oneRowOf } from "../store/connection/rows.ts";

const count = z.coerce.number();
const seconds = z.coerce.number().nullable();
const gaugesSchema = z.object({
  queued: count,
  running: count,
  parked: count,
  dispatched: count,
  oldest_s: seconds,
  held: z.partialRecord(z.enum(HOLD_REASONS), count),
  parked_host: count,
  waiting_approval: count,
  waiting_review: count,
  waiting_exam: count,
  approvals: count,
  workers: count,
  places: count,
  hosts: z.array(z.object({ host: z.string(), state: z.string(), capacity: count, in_use: count })),
  schedules: z.array(z.object({ name: z.string(), last_s: seconds })),
  schedules_missed: count,
  night_money: z.number(),
  budgets: z.array(
    z.object({
      scope: z.enum(["batch", "night"]),
      tokens: z.number().nullable(),
      calls: z.number().nullable(),
      seconds: z.number().nullable(),
      money: z.number().nullable(),
    }),
  ),
  documents: count,
  document_failures: count,
  indexed_s: seconds,
});

/** The state of the whole installation: what waits, what holds it, which workers run, and how old the index is. */
export type DatabaseGauges = z.infer<typeof gaugesSchema>;

/** Hosts, and schedules that are switched on, in one report. */
const MOST_NAMED = 50;
/** How long a missed schedule is reported. */
const MISSED_WITHIN = "1 day";

/** SQL of the largest used share of each limit; null if no row has that limit. */
const largestShares = (): string =>
  ["tokens", "calls", "seconds", "money"]
    .map((of) => `max(${of}_used::double precision / ${of}_limit) as ${of}`)
    .join(", ");

/**
 * One statement reads all gauges. Its cost grows with open batches and documents, not with jobs.
 * Budgets are used shares: that of the night, and the largest among open batches; null without a limit.
 * Ages are in seconds. `last_s` and `indexed_s` are seconds since the last run and scan; null if there was none.
 */
export const selectDatabaseGauges = (db: Queryable): Promise<DatabaseGauges> =>
  oneRowOf(db, gaugesSchema)`
     with open as materialized (select batch_id, hold_reason from nightdesk_data.batches where state = 'open'),
     counted as (
       select coalesce(sum(c.queued), 0) as queued, coalesce(sum(c.running), 0) as running, coalesce(sum(c.parked), 0) as parked
         from open join nightdesk_data.batch_counts c using (batch_id)),
     oldest as (
       select extract(epoch from clock_timestamp() - min(first.created_at)) as oldest_s
         from open cross join lateral (
           select j.created_at from nightdesk_data.jobs j
            where j.batch_id = open.batch_id and j.state in ('queued', 'parked') and j.dispatched_at is null
              and j.waits_for = 0 and j.due_at < 'infinity'
            order by j.created_at, j.seq limit 1) first
        where open.hold_reason is null),
     alive as (
       select count(*) as workers, coalesce(sum(concurrency), 0) as places
         from nightdesk_data.workers where heartbeat_at > clock_timestamp() - interval '15 seconds'),
     indexed as (
       select count(*) as documents, extract(epoch from clock_timestamp() - max(scanned_at)) as indexed_s
         from nightdesk_data.documents)
     select counted.*, oldest.oldest_s, alive.*, indexed.*,
            (select count(*) from nightdesk_data.jobs where dispatched_at is not null) as dispatched,
            (select coalesce(jsonb_object_agg(hold_reason, n), '{}')
               from (select hold_reason, count(*) as n from open where hold_reason is not null group by 1) h) as held,
            (select count(*) from nightdesk_data.jobs where parked_host is not null) as parked_host,
            (select count(*) from nightdesk_data.jobs where waiting_for = 'approval') as waiting_approval,
            (select count(*) from nightdesk_data.jobs where waiting_for = 'review') as waiting_review,
            (select count(*) from nightdesk_data.jobs where waiting_for = 'exam') as waiting_exam,
            (select count(*) from nightdesk_data.approvals where ${isWaiting("approvals")}) as approvals,
            (select coalesce(jsonb_agg(jsonb_build_object('host', h.host, 'state', h.state, 'capacity', h.capacity, 'in_use',
                      (select count(*) from nightdesk_data.host_slots s where s.host = h.host and s.ticket is not null))), '[]')
               from (select host, state, capacity from nightdesk_data.hosts order by host limit ${MOST_NAMED}) h) as hosts,
            (select coalesce(jsonb_agg(jsonb_build_object('name', s.name, 'last_s',
                      (select extract(epoch from clock_timestamp() - max(r.made_at)) from nightdesk_data.schedule_runs r
                        where r.schedule = s.name))), '[]')
               from (select name from nightdesk_data.schedules where coalesce(switched, enabled) order by name limit ${MOST_NAMED}) s)
              as schedules,
            coalesce((select sum(money_used) from nightdesk_data.nights where ends_at > clock_timestamp()), 0) as night_money,
            (select coalesce(jsonb_agg(to_jsonb(u)), '[]') from (
               select 'batch' as scope, ${largestShares()}
                 from open join nightdesk_data.batch_budgets using (batch_id)
                union all
               select 'night', ${largestShares()}
                 from nightdesk_data.nights where ends_at > clock_timestamp()) u) as budgets,
            (select count(*) from nightdesk_data.schedule_runs
              where cause = 'missed' and made_at > clock_timestamp() - interval '${MISSED_WITHIN}') as schedules_missed,
            (select count(*) from nightdesk_data.document_failures) as document_failures
       from counted, oldest, alive, indexed`;
