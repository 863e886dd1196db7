import { z } from "zod";
import type { Night } from "../../schedules/windows.ts";
import type { Queryable } from "../connection/database.ts";
import { execute, oneRowOf, rowsOf } from "../connection/rows.ts";

/**
 * Says the host of which a slot is free, when calls wait for one, and then the tickets of those that are next, by spaces:
 * `http://127.0.0.1:11434 <ticket> <ticket>`. Without tickets whoever is first anywhere has to look: the host is down.
 */
export const SLOTS_CHANNEL = "nightdesk_slots";

/** Limits; null is none. Seconds are those of calls, without waiting. */
export type Limits = {
  readonly tokens: number | null;
  readonly calls: number | null;
  readonly seconds: number | null;
  /** In the currency of the prices of hosts; missing: none. */
  readonly money?: number | null;
};

/** What a call may cost at most, and what the configuration allows. */
export type CallCost = {
  readonly tokens: number;
  /** Missing: nothing. */
  readonly money?: number;
  readonly night: Night;
  readonly perBatch: Limits;
  readonly perNight: Limits;
};

type CallPlace = {
  /** Names the call; a take whose reply was lost may be asked again. */
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
 * Lets a call begin: takes a slot of its host and reserves what it may cost, both or neither. Of calls that wait, on
 * whatever worker, the one that has waited longest comes first. A call that may cost more than is left of the budgets
 * of its batch or of the night holds the batch.
 * @param cost null for a call that no budget counts
 * @returns taken; wait: since when, in microseconds, says who comes first, and after how
 *   many milliseconds its limits let the host be called; open: the host is down; budget; lost: the run has lost its job; unknown: see `enterHost`
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

/** How a call ended, and what it is charged with. */
export type CallEnd = {
  /** busy: HTTP 503 or 429. none: it says nothing about the host. */
  readonly answer: "answered" | "busy" | "none";
  readonly calls: 0 | 1;
  readonly tokens: number;
  readonly seconds: number;
  /** Missing: nothing. */
  readonly money?: number;
  /** Of one that was busy: for how long the host asked to be left alone; missing where it did not say. */
  readonly pauseSeconds?: number;
};

/**
 * Ends a call: its slot is free, what was reserved for it is given back, and it is charged with what it cost. One that
 * only waited gives up its place. A ticket that is not held any more changes nothing.
 */
export const endCall = (db: Queryable, ticket: string, end: CallEnd): Promise<void> =>
  execute(db, [ticket, ...endValues(end)], "end_call")`
     select nightdesk_data.commit_later(), nightdesk_data.end_call($1, $2, $3, $4, $5, $6, $7)`;

/** As the function end_call takes them after the ticket. */
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
 * Ends the calls of runs that have lost their jobs: gives back their slots, their places among those that wait, and the
 * choices of hosts, of which those that have expired go as well, and
 * charges the budgets with what was asked for, because the host was asked and nobody knows what it did. Wall time counts
 * until the lease of the run ended. Whoever looks for a slot takes such a one anyway; the budgets would not come right
 * without this.
 * @returns how many calls were charged
 */
export async function chargeLostCalls(db: Queryable): Promise<number> {
  await execute(db)`
     delete from nightdesk_data.host_waiters
      where since < now() - interval '1 s' and not nightdesk_data.has_its_job(run_id)`;
  // Who holds one is about to end it, and may wait for who waits here.
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
  // One statement each, so that the rows of several batches are never locked together.
  for (const { ticket, ...cost } of lost) {
    await endCall(db, ticket, { answer: "none", calls: 1, ...cost });
  }
  return lost.length;
}

/** Of a call that did not come about. */
export const NOT_MADE: CallEnd = { answer: "none", calls: 0, tokens: 0, seconds: 0 };
