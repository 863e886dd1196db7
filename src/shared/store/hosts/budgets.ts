import { z } from "zod";
import type { Night } from "../../schedules/windows.ts";
import type { Queryable } from "../connection/database.ts";
import { anyRow, camelRow, execute, rowOf, rowsOf } from "../connection/rows.ts";
import type { Limits } from "./calls.ts";

const budgetSchema = z
  .object({
    tokens_limit: z.coerce.number().nullable(),
    calls_limit: z.coerce.number().nullable(),
    seconds_limit: z.number().nullable(),
    tokens_used: z.coerce.number(),
    calls_used: z.coerce.number(),
    seconds_used: z.number(),
    money_limit: z.number().nullable(),
    money_used: z.number(),
    tokens_reserved: z.coerce.number(),
    calls_reserved: z.coerce.number(),
    money_reserved: z.number(),
    refused_by: z.enum(["batch", "night"]).nullable(),
    tokens_needed: z.coerce.number().nullable(),
    money_needed: z.number().nullable(),
  })
  .transform((row) => ({
    limits: {
      tokens: row.tokens_limit,
      calls: row.calls_limit,
      seconds: row.seconds_limit,
      money: row.money_limit,
    },
    used: {
      tokens: row.tokens_used,
      calls: row.calls_used,
      seconds: row.seconds_used,
      money: row.money_used,
    },
    reserved: { tokens: row.tokens_reserved, calls: row.calls_reserved, money: row.money_reserved },
    refusedBy: row.refused_by,
    tokensNeeded: row.tokens_needed,
    moneyNeeded: row.money_needed,
  }));

/** What the calls of a batch have cost and may cost. `refusedBy` is set while a budget holds the batch, and names it. */
export type BatchBudget = z.infer<typeof budgetSchema>;

/** New limits of a batch; null for no limit, a missing key keeps the old one. */
export type BudgetChange = Partial<Limits>;

/** Sets limits of one batch, which the configuration then no longer changes. */
export const setBatchBudget = (
  db: Queryable,
  batchId: string,
  change: BudgetChange,
): Promise<void> =>
  execute(db, [batchId, JSON.stringify(change)])`
     insert into nightdesk_data.batch_budgets as kept (batch_id, own, tokens_limit, calls_limit, seconds_limit,
                                                        money_limit)
     select $1, array(select jsonb_object_keys(c.change)), (change->>'tokens')::bigint, (change->>'calls')::bigint,
            (change->>'seconds')::double precision, (change->>'money')::double precision
       from (select $2::jsonb as change) c
     on conflict (batch_id) do update set
       own = array(select distinct unnest(kept.own || excluded.own)),
       tokens_limit = case when 'tokens' = any (excluded.own) then excluded.tokens_limit else kept.tokens_limit end,
       calls_limit = case when 'calls' = any (excluded.own) then excluded.calls_limit else kept.calls_limit end,
       seconds_limit = case when 'seconds' = any (excluded.own) then excluded.seconds_limit else kept.seconds_limit end,
       money_limit = case when 'money' = any (excluded.own) then excluded.money_limit else kept.money_limit end`;

/** The budget of a batch; undefined before its first call, unless limits were set for it. */
export const selectBatchBudget = (
  db: Queryable,
  batchId: string,
): Promise<BatchBudget | undefined> =>
  rowOf(db, budgetSchema, [batchId])`
     select * from nightdesk_data.batch_budgets where batch_id = $1`;

/**
 * Applies the limits of the configuration to batches without limits of their own, and to the night. A held batch continues when
 * its limits were raised.
 */
export const applyConfiguredBudgets = (
  db: Queryable,
  { perBatch, perNight }: { readonly perBatch: Limits; readonly perNight: Limits },
  night: Night,
): Promise<void> =>
  execute(db, [
    perBatch.tokens,
    perBatch.calls,
    perBatch.seconds,
    perNight.tokens,
    perNight.calls,
    perNight.seconds,
    night.date,
    perBatch.money ?? null,
    perNight.money ?? null,
  ])`
     with budgets as (
       select batch_id from nightdesk_data.batch_budgets u join nightdesk_data.batches b using (batch_id)
        where b.state = 'open' order by batch_id for no key update of u),
     applied as (
       update nightdesk_data.batch_budgets u
          set tokens_limit = case when 'tokens' = any (own) then tokens_limit else $1::bigint end,
              calls_limit = case when 'calls' = any (own) then calls_limit else $2::bigint end,
              seconds_limit = case when 'seconds' = any (own) then seconds_limit else $3::double precision end,
              money_limit = case when 'money' = any (own) then money_limit else $8::double precision end
         from budgets where u.batch_id = budgets.batch_id)
     update nightdesk_data.nights set tokens_limit = $4, calls_limit = $5, seconds_limit = $6, money_limit = $9
      where night = $7`;

const heldSchema = z.object({ batch_id: z.string(), until: z.date().nullable() });

/**
 * Releases batches whose refused call fits now: calls in flight cost less than reserved, the budget was raised, or another night
 * began.
 * @returns the batches that stay held, each with the time when the night's budget changes; null when that is unknown
 */
export async function releaseBudgetHolds(
  db: Queryable,
  night: Night,
): Promise<ReadonlyMap<string, Date | null>> {
  const rows = await rowsOf(db, heldSchema, [night.date])`
     with refused as materialized (
       select u.batch_id,
              (u.calls_used + u.calls_reserved + 1 <= u.calls_limit is not false
                and u.tokens_used + u.tokens_reserved + u.tokens_needed <= u.tokens_limit is not false
                and u.seconds_used < u.seconds_limit is not false
                and u.money_used + u.money_reserved + coalesce(u.money_needed, 0) <= u.money_limit is not false) as fits_batch,
              (n.calls_used + n.calls_reserved + 1 <= n.calls_limit is not false
                and n.tokens_used + n.tokens_reserved + u.tokens_needed <= n.tokens_limit is not false
                and n.seconds_used < n.seconds_limit is not false
                and n.money_used + n.money_reserved + coalesce(u.money_needed, 0) <= n.money_limit is not false) as fits_night,
              n.ends_at
         from nightdesk_data.batch_budgets u left join nightdesk_data.nights n on n.night = $1
        where u.refused_at is not null),
     lifted as (
       update nightdesk_data.batch_budgets u set tokens_needed = null, money_needed = null, refused_by = null, refused_at = null
         from refused r where u.batch_id = r.batch_id and r.fits_batch and r.fits_night)
     select batch_id, case when fits_batch then ends_at end as until from refused
      where not (fits_batch and fits_night)`;
  return new Map(rows.map(({ batch_id, until }) => [batch_id, until]));
}

/**
 * Ends checks of answers, and exams, whose own budget is used up: no user sees their batch to raise its budget, and the answers
 * that wait for them must go on with open checks. Later checks are tried again.
 * @returns whether there were any
 */
export const endChecksOverBudget = (db: Queryable): Promise<boolean> =>
  anyRow(db)`
     with over as materialized (
       select batch_id from nightdesk_data.batch_budgets u join nightdesk_data.batches b using (batch_id)
        where u.refused_at is not null and u.refused_by = 'batch' and b.origin = 'verify' and b.state = 'open'),
     waiting as materialized (
       select j.job_id from nightdesk_data.jobs j join over using (batch_id)
        where j.state in ('queued', 'parked') order by j.seq for no key update of j skip locked),
     ended as (
       update nightdesk_data.jobs j
          set state = 'cancelled', cancel_requested = true, finished_at = clock_timestamp(), dispatched_at = null,
              parked_host = null, waiting_for = null, error_code = 'BUDGET_EXCEEDED',
              error_message = 'Checks have used up verify.budget, or an exam the budget of a batch.'
         from waiting where j.job_id = waiting.job_id)
     update nightdesk_data.batch_budgets u set tokens_needed = null, money_needed = null, refused_by = null, refused_at = null
       from over where u.batch_id = over.batch_id`;

const usedUpSchema = camelRow({
  batch: z.string(),
  refused_by: z.enum(["batch", "night"]),
  tokens_needed: z.coerce.number(),
});

/** Open batches that are held because a call may cost more than their budget has left, oldest refusal first. */
export const selectRefusedBudgets = (
  db: Queryable,
): Promise<readonly z.infer<typeof usedUpSchema>[]> =>
  rowsOf(db, usedUpSchema)`
     select b.name as batch, u.refused_by, u.tokens_needed
       from nightdesk_data.batch_budgets u join nightdesk_data.batches b using (batch_id)
      where u.refused_at is not null and b.state = 'open' order by u.refused_at, b.name`;
