import { z } from "zod";
import { HOLD_REASONS } from "../store/jobs/holds.ts";
import type { Queryable } from "../store/connection/database.ts";
import { oneRowOf } from "../store/connection/rows.ts";

/** States of jobs, from the bottom of the chart to its top. `failed` includes cancelled and expired jobs. */
export const NIGHT_STATES = ["succeeded", "refused", "failed", "running", "waiting"] as const;
export type NightState = (typeof NIGHT_STATES)[number];

const count = z.coerce.number();
const nightSchema = z.object({
  began_at: z.coerce.date(),
  ended_at: z.coerce.date(),
  moves: z.array(
    z.object({
      step: count,
      added: count,
      began: count,
      succeeded: count,
      refused: count,
      failed: count,
    }),
  ),
  holds: z.array(
    z.object({
      batch: z.string(),
      reason: z.enum(HOLD_REASONS),
      detail: z.string().nullable(),
      began_at: z.coerce.date(),
      ended_at: z.coerce.date().nullable(),
    }),
  ),
  models: z.array(
    z.object({
      model: z.string().nullable(),
      runs: count,
      prompt_tokens: count,
      completion_tokens: count,
      model_ms: count,
    }),
  ),
});
type NightRow = z.infer<typeof nightSchema>;

export type NightHold = NightRow["holds"][number];
export type ModelCost = NightRow["models"][number];
/** Jobs in each state at the end of a time step. */
export type NightPoint = { readonly at: Date } & Readonly<Record<NightState, number>>;

/** The events of a span of time, sampled to a fixed number of points, whatever the number of jobs. */
export type Night = {
  readonly from: Date;
  readonly to: Date;
  /** The first point is at `from`. */
  readonly points: readonly NightPoint[];
  readonly holds: readonly NightHold[];
  /** Most tokens first. */
  readonly models: readonly ModelCost[];
};

/** A batch from its first job to its last, or to now if it has not ended; or all listed batches between two times. */
export type NightScope = { readonly batchId: string } | { readonly from: Date; readonly to: Date };

const STEPS = 120;
/** The longest holds, and the models with most tokens. */
const MOST_HOLDS = 60;
const MOST_MODELS = 12;

/**
 * Reads a night with one statement that visits each job once.
 * @param scope for two times, jobs that ended before `from` are not counted, and the span begins with the first job
 */
export async function selectNight(db: Queryable, scope: NightScope): Promise<Night> {
  const row = await oneRowOf(
    db,
    nightSchema,
    "batchId" in scope ? [scope.batchId, null, null] : [null, scope.from, scope.to],
  )`
     with asked as (select $1::uuid as batch_id, $2::timestamptz as began_at, $3::timestamptz as ended_at),
     found as materialized (
       select j.job_id, j.created_at, j.finished_at, j.state,
              case when j.state in ('queued', 'parked') then null else coalesce(j.started_at, j.finished_at) end as began_at
         from asked join nightdesk_data.jobs j on j.batch_id = asked.batch_id
       union all
       select j.job_id, j.created_at, j.finished_at, j.state,
              case when j.state in ('queued', 'parked') then null else coalesce(j.started_at, j.finished_at) end
         from asked
         join nightdesk_data.jobs j on j.created_at < asked.ended_at and (j.finished_at >= asked.began_at or j.finished_at is null)
         join nightdesk_data.batches b on b.batch_id = j.batch_id and b.origin not in ('system', 'verify')
        where asked.batch_id is null),
     span as materialized (
       select began_at, greatest(ended_at, began_at + interval '1 second') as ended_at,
              date_part('epoch', began_at) as first_s,
              greatest(1, date_part('epoch', ended_at - began_at)) as lasted_s
         from (select coalesce(greatest((select began_at from asked), min(created_at)), now()) as began_at,
                      coalesce((select ended_at from asked), case when bool_and(finished_at is not null) then max(finished_at) end, now()) as ended_at
                 from found) whole),
     placed as (
       select count(*) as jobs, state, ${stepOf("created_at")} as added, ${stepOf("found.began_at")} as began, ${stepOf("finished_at")} as ended
         from found, span group by 2, 3, 4, 5),
     moves as (
       select step, sum(jobs) filter (where what = 'added') as added, sum(jobs) filter (where what = 'began') as began,
              coalesce(sum(jobs) filter (where what = 'ended' and state = 'succeeded'), 0) as succeeded,
              coalesce(sum(jobs) filter (where what = 'ended' and state = 'refused'), 0) as refused,
              coalesce(sum(jobs) filter (where what = 'ended' and state not in ('succeeded', 'refused')), 0) as failed
         from placed cross join lateral (values ('added', added), ('began', began), ('ended', ended)) as each (what, step)
        where step <= ${STEPS} group by step),
     holds as (
       select b.name as batch, h.reason, h.detail, h.began_at, h.ended_at
         from asked, span, nightdesk_data.hold_history h join nightdesk_data.batches b on b.batch_id = h.batch_id
        where (b.batch_id = asked.batch_id or asked.batch_id is null and b.origin not in ('system', 'verify'))
          and h.began_at < span.ended_at and (h.ended_at > span.began_at or h.ended_at is null)
        order by coalesce(h.ended_at, now()) - h.began_at desc limit ${MOST_HOLDS}),
     models as (
       select coalesce(r.model_second, r.model_first) as model, count(*) as runs, sum(r.prompt_tokens) as prompt_tokens,
              sum(r.completion_tokens) as completion_tokens, sum(r.model_ms) as model_ms
         from asked, span, found join nightdesk_data.runs r on r.job_id = found.job_id
        where asked.batch_id is not null or r.started_at between span.began_at and span.ended_at
        group by 1 order by sum(r.prompt_tokens + r.completion_tokens) desc, sum(r.model_ms) desc, 1 limit ${MOST_MODELS})
     select span.began_at, span.ended_at,
            coalesce((select jsonb_agg(to_jsonb(m) order by m.step) from moves m), '[]') as moves,
            coalesce((select jsonb_agg(to_jsonb(h) order by h.began_at, h.ended_at, h.batch) from holds h), '[]') as holds,
            coalesce((select jsonb_agg(to_jsonb(m)) from models m), '[]') as models
       from span`;
  return nightOfRow(row);
}

/** SQL: the time step of an event; 0 if it was before the first step, null if it has not happened. */
const stepOf = (column: string): string =>
  `case when ${column} is not null
        then greatest(0, ceil(${STEPS} * (date_part('epoch', ${column}) - span.first_s) / span.lasted_s))::integer end`;

function nightOfRow({ began_at: from, ended_at: to, moves, holds, models }: NightRow): Night {
  const byStep = new Map(moves.map((move) => [move.step, move]));
  const lasted = to.getTime() - from.getTime();
  const points: NightPoint[] = [];
  let at = { succeeded: 0, refused: 0, failed: 0, running: 0, waiting: 0 };
  for (let step = 0; step <= STEPS; step += 1) {
    const move = byStep.get(step);
    if (move !== undefined) at = applyMove(at, move);
    points.push({ at: new Date(from.getTime() + (lasted * step) / STEPS), ...at });
  }
  return { from, to, points, holds, models };
}

const applyMove = (
  at: Readonly<Record<NightState, number>>,
  { added, began, succeeded, refused, failed }: NightRow["moves"][number],
): Record<NightState, number> => ({
  succeeded: at.succeeded + succeeded,
  refused: at.refused + refused,
  failed: at.failed + failed,
  running: at.running + began - succeeded - refused - failed,
  waiting: at.waiting + added - began,
});
