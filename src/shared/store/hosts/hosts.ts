import { z } from "zod";
import { firstCapacityOf } from "../../config/hosts.ts";
import type { CallPlace } from "../../config/hosts.ts";
import type { HostTrial } from "../../failure.ts";
import type { Queryable } from "../connection/database.ts";
import { camelRow, countRows, execute, rowOf, rowsOf, valuesOf } from "../connection/rows.ts";
import { LEASE_SECONDS } from "../jobs/claim-job.ts";
import { BLOCKED_KINDS, IS_BLOCKED, SOMEONE_IS_ALIVE } from "../jobs/due.ts";
import { SLOTS_CHANNEL } from "./calls.ts";

/** Most concurrent calls of a host. */
const MOST_SLOTS = 64;
/** Creates the row and the slots of a host, or applies changed settings; without a change, measured values stay. */
export async function enterHost(db: Queryable, place: CallPlace): Promise<void> {
  const { host, provider, parallel, entry } = place;
  const sizing = parallel === null ? "found" : "configured";
  const capacity = firstCapacityOf(place);
  const reason =
    parallel === null
      ? `first guess for ${provider}`
      : `configured: model.parallel is ${String(parallel)}`;
  await execute(db, [
    ...[host, provider, capacity, reason, sizing, parallel ?? MOST_SLOTS],
    ...[entry?.name ?? null, entry?.priority ?? 0],
    ...[entry?.requestsPerMinute ?? null, entry?.tokensPerMinute ?? null],
  ])`
     with entered as (
       insert into nightdesk_data.hosts as kept
              (host, provider, capacity, capacity_reason, sizing, most, name, priority, requests_per_minute, tokens_per_minute)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
       on conflict (host) do update set provider = excluded.provider, capacity = excluded.capacity,
         capacity_reason = excluded.capacity_reason, sizing = excluded.sizing, most = excluded.most,
         capacity_changed_at = clock_timestamp(), raise_after = '-infinity', rate_before = null,
         full_calls = 0, full_tokens = 0, full_seconds = 0, name = excluded.name, priority = excluded.priority,
         requests_per_minute = excluded.requests_per_minute, tokens_per_minute = excluded.tokens_per_minute
         where (kept.provider, kept.sizing, kept.most, kept.name, kept.priority, kept.requests_per_minute,
                kept.tokens_per_minute)
               is distinct from (excluded.provider, excluded.sizing, excluded.most, excluded.name, excluded.priority,
                                 excluded.requests_per_minute, excluded.tokens_per_minute)
       returning host)
     insert into nightdesk_data.host_slots (host, slot)
     select host, slot from entered, generate_series(1, ${MOST_SLOTS}) slot
     on conflict do nothing`;
}

/** Longest interval between two probes of a host that is down. */
export const LONGEST_PAUSE_MS = 120_000;

type HostTrouble = {
  readonly host: string;
  readonly code: string;
  readonly message: string;
  /** The batch of the run that met the trouble, whose job is about to be parked. Null when the run goes on at another host. */
  readonly batchId: string | null;
  /** Consecutive failures that open the breaker. */
  readonly most: number;
  /** Delay until the first probe. */
  readonly pauseMs: number;
  /** The request that must succeed before the host counts as back; without it, any answer is enough. */
  readonly trial?: HostTrial | undefined;
};

/**
 * Counts a run that found a host down or busy. When the count reaches `most`, the breaker opens: the batches that have jobs
 * parked for the host are held, unless a worker can continue them at another host. While the breaker is open, nothing is counted.
 * @returns whether this call opened it
 */
export async function countHostFailure(
  db: Queryable,
  { host, code, message, batchId, most, pauseMs, trial }: HostTrouble,
): Promise<"counted" | "opened"> {
  const values = [host, code, message.slice(0, 1000), most, pauseMs / 1000, trial ?? null];
  const state = await valuesOf(db, z.string(), values)`
     update nightdesk_data.hosts
        set failures = failures + 1, error_code = $2, error_message = $3, failed_at = clock_timestamp(), trial = $6,
            state = case when failures + 1 >= $4 then 'open' else 'closed' end,
            opened_at = case when failures + 1 >= $4 then clock_timestamp() end,
            next_probe_at = case when failures + 1 >= $4
                                 then clock_timestamp()
                                      + make_interval(secs => least(${LONGEST_PAUSE_MS / 1000}, $5 * 2 ^ least(probes, 10))) end
      where host = $1 and state = 'closed'
     returning state`;
  await holdParkedBatches(db, host, batchId);
  return state[0] === "open" ? "opened" : "counted";
}

/**
 * Holds the batches of jobs that are parked, or about to be, for a host that is down, unless a living worker can continue them
 * without it. Notifies the calls that wait for a slot.
 */
const holdParkedBatches = (db: Queryable, host: string, batchId: string | null): Promise<void> =>
  execute(db, [host, batchId])`
     with blocked as materialized (select ${BLOCKED_KINDS} as kinds, ${SOMEONE_IS_ALIVE} as by_living),
     down as (
       select host, next_probe_at from nightdesk_data.hosts where host = $1 and state = 'open'),
     held as (
       update nightdesk_data.batches b set hold_reason = 'host', hold_until = down.next_probe_at
         from down, blocked
        where b.state = 'open' and b.hold_reason is null and (not by_living or kinds <> '{}' and ${IS_BLOCKED})
          and (b.batch_id = $2 or exists (select from nightdesk_data.jobs j
                                           where j.batch_id = b.batch_id and j.parked_host = down.host)))
     select pg_notify('${SLOTS_CHANNEL}', host) from down`;

const dueSchema = z.object({
  host: z.string(),
  provider: z.enum(["ollama", "openai-compatible"]),
  trial: z.object({ route: z.string(), body: z.record(z.string(), z.unknown()) }).nullable(),
});
export type DueProbe = z.infer<typeof dueSchema>;

/** Claims the probe of one host that is down and due for it; no other process can claim it meanwhile. */
export const claimProbe = (
  db: Queryable,
  prober: string,
  hosts: readonly string[],
): Promise<DueProbe | undefined> =>
  rowOf(db, dueSchema, [prober, hosts])`
     update nightdesk_data.hosts
        set prober = $1, probing_until = clock_timestamp() + interval '40 s'
      where host = (select host from nightdesk_data.hosts
                     where host = any($2) and state = 'open' and next_probe_at <= clock_timestamp()
                       and (probing_until is null or probing_until < clock_timestamp())
                     order by next_probe_at limit 1 for update skip locked)
     returning host, provider, trial`;

/** Records that a host is still down: the next probe comes after twice the pause, at most `pause.mostMs`. */
export const postponeProbe = (
  db: Queryable,
  { prober, host }: { readonly prober: string; readonly host: string },
  pause: { readonly firstMs: number; readonly mostMs: number },
): Promise<void> =>
  execute(db, [host, prober, pause.firstMs, pause.mostMs])`
     update nightdesk_data.hosts
        set probes = probes + 1, prober = null, probing_until = null,
            next_probe_at = clock_timestamp()
              + make_interval(secs => least($4, $3 * 2 ^ least(probes + 1, 10))::double precision / 1000)
      where host = $1 and prober = $2`;

/** Closes the breaker of a host that answers: its parked jobs become due at once, and its batches continue. */
export const wakeHost = (db: Queryable, host: string): Promise<void> =>
  execute(db, [host])`select nightdesk_data.wake_host($1)`;

/**
 * Closes the breakers of hosts that nobody probes any more, because no worker has them in its configuration: the remaining
 * workers try their jobs again.
 */
export const wakeForgottenHosts = (db: Queryable, afterMs: number): Promise<void> =>
  execute(db, [afterMs])`
     select nightdesk_data.wake_host(host) from nightdesk_data.hosts
      where state = 'open' and next_probe_at < clock_timestamp() - make_interval(secs => $1::double precision / 1000)`;

const stateSchema = camelRow({
  host: z.string(),
  provider: z.enum(["ollama", "openai-compatible", "web"]),
  capacity: z.int(),
  capacity_reason: z.string(),
  state: z.enum(["closed", "open"]),
  error_message: z.string().nullable(),
  opened_at: z.date().nullable(),
  next_try_at: z.date().nullable(),
});
export type HostState = z.infer<typeof stateSchema>;

/** Every host that was ever called, by its URL. */
export const selectHosts = (db: Queryable): Promise<readonly HostState[]> =>
  rowsOf(db, stateSchema)`
     select host, provider, capacity, capacity_reason, state, error_message, opened_at, next_try_at
       from nightdesk.hosts order by host`;

/** A worker's claim of a probe lasts less than this. */
const LONGEST_PROBE = "45 s";
/** After an added slot brought no gain, size_host adds no further slot for this long. */
const LONGEST_REST = "30 minutes";
const NOW = "clock_timestamp()";
/** A host of the web chooses its own pause, up to an hour. */
const LONGEST_PAUSE = `case provider when 'web' then interval '1 hour' else interval '${LONGEST_PAUSE_MS} ms' end`;
/** Longest pause that a host may request by Retry-After. */
const LONGEST_HOST_PAUSE = "1 hour";
/** The next turn of a host of the web is always nearer than this. */
const LONGEST_TURN = "3 minutes";

/**
 * One statement for each kind of row. A time further in the future than any rule allows, because the clock was set back since,
 * gets the value that it would have if written now. Locked rows are left for the next call.
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
  `update nightdesk_data.host_choices set expires_at = ${NOW} where expires_at > ${NOW} + interval '1 minute'`,
  `update nightdesk_data.host_waiters set since = ${NOW} where since > ${NOW} + interval '1 s'`,
  `update nightdesk_data.reservations set made_at = ${NOW} where made_at > ${NOW} + interval '1 s'`,
  `update nightdesk_data.hosts
      set next_probe_at = case when next_probe_at is not null then least(next_probe_at, ${NOW} + ${LONGEST_PAUSE}) end,
          next_call_at = least(next_call_at, ${NOW}),
          paused_until = least(paused_until, ${NOW} + interval '${LONGEST_HOST_PAUSE}'),
          tokens_free_at = least(tokens_free_at, ${NOW} + interval '${LONGEST_HOST_PAUSE}'),
          raise_after = least(raise_after, ${NOW} + interval '${LONGEST_REST}'),
          prober = case when probing_until > ${NOW} + interval '${LONGEST_PROBE}' then null else prober end,
          probing_until = case when probing_until > ${NOW} + interval '${LONGEST_PROBE}' then null else probing_until end
    where next_probe_at > ${NOW} + ${LONGEST_PAUSE} + interval '1 s'
       or next_call_at > ${NOW} + interval '${LONGEST_TURN}'
       or paused_until > ${NOW} + interval '${LONGEST_HOST_PAUSE} 1 second'
       or tokens_free_at > ${NOW} + interval '${LONGEST_HOST_PAUSE} 1 second'
       or raise_after > ${NOW} + interval '${LONGEST_REST}' or probing_until > ${NOW} + interval '${LONGEST_PROBE}'`,
];

/**
 * Corrects times that lie too far in the future because the clock was set back: leases of dead workers, lost deliveries, slots,
 * reservations, and probes of hosts.
 * @returns how many rows changed
 */
export async function clampFutureTimes(db: Queryable): Promise<number> {
  let clamped = 0;
  for (const statement of CLAMPS) clamped += await countRows(db)`${statement}`;
  return clamped;
}
