import { z } from "zod";
import type { Night } from "../../schedules/windows.ts";
import type { Queryable } from "../connection/database.ts";
import { execute, oneRowOf, rowsOf } from "../connection/rows.ts";

/**
 * Channel that announces free slots while calls wait: the host, then the tickets of the calls that are next, separated by spaces:
 * `http://127.0.0.1:11434 <ticket> <ticket>`. Without tickets the host is down, and the first call of each worker must check.
 */
export const SLOTS_CHANNEL = "nightdesk_slots";

/** Limits; null for none. Seconds count calls, without their waiting. */
export type Limits = {
  readonly tokens: number | null;
  readonly calls: number | null;
  readonly seconds: number | null;
  /** In the currency of the hosts' prices; missing: no limit. */
  readonly money?: number | null;
};

/** The most that a call may cost, and the limits of the configuration. */
export type CallCost = {
  readonly tokens: number;
  /** Default: 0. */
  readonly money?: number;
  readonly night: Night;
  readonly perBatch: Limits;
  readonly perNight: Limits;
};

type CallPlace = {
  /** Identifies the call, so that `takeCall` can be repeated when its reply was lost. */
  readonly ticket: string;
  readonly runId: string;
  readonly host: string;
};

const refusedSchema = z.object({
  by: z.enum(["batch", "night"]),
  what: z.enum(["tokens", "calls", "seconds", "money"]),
  limit: z.number(),
  used: z.number(),
  reserved: z.number(),
  needed: z.number(),
});
export type BudgetRefusal = z.infer<typeof refusedSchema>;

const openSchema = z.object({
  error_message: z.string().nullable(),
  next_probe_at: z.coerce.date(),
});

const takenSchema = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.enum(["taken", "lost", "unknown"]) }),
  z.object({
    outcome: z.literal("wait"),
    detail: z.object({ since_us: z.number(), again_ms: z.number().nullable() }),
  }),
  z.object({ outcome: z.literal("open"), detail: openSchema }),
  z.object({ outcome: z.literal("budget"), detail: refusedSchema }),
]);
export type TakenCall = z.infer<typeof takenSchema>;

/**
 * Lets a call begin: takes a slot of its host and reserves its highest cost, both or neither. Of all waiting calls, on any
 * worker, the one that has waited longest is first. A call that may cost more than the budget of its batch or of the night has
 * left holds the batch.
 * @param cost null for a call outside of all budgets
 * @returns taken; wait: since when, in microseconds, which decides the order, and after how many milliseconds the host's limits
 * allow a call; open: the host is down; budget; lost: the run no longer owns its job; unknown: see `enterHost`
 */
export const takeCall = (
  db: Queryable,
  { ticket, runId, host }: CallPlace,
  cost: CallCost | null,
): Promise<TakenCall> =>
  oneRowOf(
    db,
    takenSchema,
    [ticket, runId, host, cost === null ? null : JSON.stringify(costRow(cost))],
    "take_call",
  )`select * from nightdesk_data.take_call($1, $2, $3, $4)`;

const costRow = ({ tokens, money = 0, night, perBatch, perNight }: CallCost): object => ({
  tokens,
  money,
  night: night.date,
  night_ends_at: night.endsAt,
  batch_tokens: perBatch.tokens,
  batch_calls: perBatch.calls,
  batch_seconds: perBatch.seconds,
  batch_money: perBatch.money ?? null,
  night_tokens: perNight.tokens,
  night_calls: perNight.calls,
  night_seconds: perNight.seconds,
  night_money: perNight.money ?? null,
});

/** How a call ended, and its cost. */
export type CallEnd = {
  /** busy: HTTP 503 or 429. none: the end says nothing about the host. */
  readonly answer: "answered" | "busy" | "none";
  readonly calls: 0 | 1;
  readonly tokens: number;
  readonly seconds: number;
  /** Default: 0. */
  readonly money?: number;
  /** For a busy host: the pause that it asked for, if any. */
  readonly pauseSeconds?: number;
};

/**
 * Ends a call: frees its slot, returns its reservation and charges its cost. A call that only waited gives up its place. An
 * unknown ticket changes nothing.
 */
export const endCall = (db: Queryable, ticket: string, end: CallEnd): Promise<void> =>
  execute(db, [ticket, ...endValues(end)], "end_call")`
     select nightdesk_data.commit_later(), nightdesk_data.end_call($1, $2, $3, $4, $5, $6, $7)`;

/** The parameters of the SQL function end_call after the ticket. */
export const endValues = (end: CallEnd): readonly unknown[] => [
  end.answer,
  end.calls,
  Math.ceil(end.tokens),
  end.seconds,
  end.money ?? 0,
  end.pauseSeconds ?? 0,
];

const lostSchema = z.object({
  ticket: z.string(),
  tokens: z.coerce.number(),
  seconds: z.coerce.number(),
  money: z.number(),
});

/**
 * Ends the calls of runs that no longer own their jobs. Frees their slots, their places in the line and their choices of hosts,
 * and deletes expired choices. Charges the budgets with the reserved amounts, because the host was called and nobody knows what
 * it did; wall time counts until the run's lease ended. A waiting call takes such a slot anyway, but the budgets would stay wrong
 * without this.
 * @returns how many calls were charged
 */
export async function chargeLostCalls(db: Queryable): Promise<number> {
  await execute(db)`
     delete from nightdesk_data.host_waiters
      where since < now() - interval '1 s' and not nightdesk_data.has_its_job(run_id)`;
  // A session that has locked a choice is about to end it, and may wait for this one: skip its row.
  await execute(db)`
     delete from nightdesk_data.host_choices
      where (run_id, host) in (select run_id, host from nightdesk_data.host_choices
                                where expires_at < now() or not nightdesk_data.has_its_job(run_id) for update skip locked)`;
  const lost = await rowsOf(db, lostSchema)`
     select c.ticket, c.tokens, c.money,
            greatest(0, extract(epoch from coalesce(j.lease_until, r.finished_at, clock_timestamp()) - c.made_at)) as seconds
       from nightdesk_data.reservations c
       left join nightdesk_data.runs r using (run_id)
       left join nightdesk_data.jobs j on j.run_id = c.run_id and j.state = 'running'
      where c.made_at < now() - interval '1 s' and not nightdesk_data.has_its_job(c.run_id) order by c.made_at`;
  // One statement for each call, so that no statement locks rows of several batches.
  for (const { ticket, ...cost } of lost) {
    await endCall(db, ticket, { answer: "none", calls: 1, ...cost });
  }
  return lost.length;
}

/** The end of a call that was never made. */
export const UNMADE_CALL: CallEnd = { answer: "none", calls: 0, tokens: 0, seconds: 0 };
