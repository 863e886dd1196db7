import type { Queryable } from "../database.ts";
import { LEASE_SECONDS } from "../jobs/claim-job.ts";
import { LONGEST_PAUSE_MS } from "./hosts.ts";

/** A worker asks a host for less than this whether it is back. */
const LONGEST_PROBE = "45 s";
/** For so long no further slot of a host is tried after one that brought nothing, by size_host. */
const LONGEST_REST = "30 minutes";
const NOW = "clock_timestamp()";

/**
 * One statement a kind of row: a time that lies further ahead than any rule puts it, because the clock was set back since,
 * becomes what it would be had it been written now. What somebody has in hand is left for the next look.
 */
const CLAMPS = [
  `with ahead as materialized (
     select job_id from nightdesk_data.jobs
      where state = 'running' and lease_until > ${NOW} + interval '${LEASE_SECONDS + 1} s' for no key update skip locked)
   update nightdesk_data.jobs j set lease_until = ${NOW} + interval '${LEASE_SECONDS} s' from ahead
    where j.job_id = ahead.job_id and j.state = 'running'`,
  `with ahead as materialized (
     select job_id from nightdesk_data.jobs where dispatched_at > ${NOW} + interval '1 s' for no key update skip locked)
   update nightdesk_data.jobs j set dispatched_at = ${NOW} from ahead
    where j.job_id = ahead.job_id and j.dispatched_at is not null`,
  `with ahead as materialized (
     select host, slot from nightdesk_data.host_slots where taken_at > ${NOW} + interval '1 s' for update skip locked)
   update nightdesk_data.host_slots s set taken_at = ${NOW} from ahead
    where s.host = ahead.host and s.slot = ahead.slot and s.ticket is not null`,
  `update nightdesk_data.host_waiters set since = ${NOW} where since > ${NOW} + interval '1 s'`,
  `update nightdesk_data.reservations set made_at = ${NOW} where made_at > ${NOW} + interval '1 s'`,
  `update nightdesk_data.hosts
      set next_probe_at = case when next_probe_at is not null then least(next_probe_at, ${NOW} + interval '${LONGEST_PAUSE_MS} ms') end,
          raise_after = least(raise_after, ${NOW} + interval '${LONGEST_REST}'),
          prober = case when probing_until > ${NOW} + interval '${LONGEST_PROBE}' then null else prober end,
          probing_until = case when probing_until > ${NOW} + interval '${LONGEST_PROBE}' then null else probing_until end
    where next_probe_at > ${NOW} + interval '${LONGEST_PAUSE_MS + 1_000} ms'
       or raise_after > ${NOW} + interval '${LONGEST_REST}' or probing_until > ${NOW} + interval '${LONGEST_PROBE}'`,
];

/**
 * Brings times that a clock which was set back has left in the future to where the rules would put them now: leases of
 * workers that died, deliveries that were lost, slots, reservations, and when a host is asked again.
 * @returns how many rows that was
 */
export async function clampFutureTimes(db: Queryable): Promise<number> {
  let clamped = 0;
  for (const statement of CLAMPS) clamped += (await db.query(statement)).rowCount ?? 0;
  return clamped;
}
