import { z } from "zod";
import type { Queryable } from "../store/connection/database.ts";
import { oneRowOf, rowsOf, valueOf } from "../store/connection/rows.ts";

const eventSchema = z.object({
  event_id: z.coerce.number(),
  run_id: z.string(),
  job_id: z.string(),
  batch_id: z.string(),
  /** Null for a job that was queued outside a batch. */
  batch: z.string().nullable(),
  /** The custom_id of the job; for a job outside a batch its question or path. */
  custom_id: z.string(),
  kind: z.string(),
  step: z.string(),
  duration_ms: z.number(),
  /** The current state of the run. */
  state: z.string(),
});

/** A step of a run as the live view shows it. */
export type LiveEvent = z.infer<typeof eventSchema>;

/** Steps of runs by id, from `after` (exclusive) to `upTo` (inclusive). */
export const selectEvents = (
  db: Queryable,
  { after, upTo, limit }: { readonly after: number; readonly upTo: number; readonly limit: number },
): Promise<readonly LiveEvent[]> =>
  rowsOf(db, eventSchema, [after, upTo, limit])`
     select e.event_id, e.run_id, j.job_id, j.batch_id, case when b.origin <> 'ad_hoc' then b.name end as batch,
            case when b.origin <> 'ad_hoc' then j.custom_id
                 else left(coalesce(j.input->>'question', j.input->>'path', j.custom_id), 120) end as custom_id, j.kind, e.step, e.duration_ms, r.state
       from nightdesk_data.run_events e join nightdesk_data.runs r using (run_id)
       join nightdesk_data.jobs j on j.job_id = r.job_id
       join nightdesk_data.batches b on b.batch_id = j.batch_id
      where e.event_id > $1 and e.event_id <= $2 order by e.event_id limit $3`;

/** The last issued event id, the next transaction id at that time, and the time by `performance.now()`. */
export type EventMark = { readonly top: number; readonly next: bigint; readonly seenAt: number };

const snapshotSchema = z.object({
  oldest: z.string().transform(BigInt).nullable(),
  next: z.string().transform(BigInt),
});

/**
 * Finds the id below which no new event can appear. The sequence issues ids in order, but transactions commit in any order.
 * So the ids issued before a mark are final once every transaction that was open at the mark has ended: when the oldest
 * open transaction began after it. Only transactions of this database count, because others write no events. A writer locks
 * the row of its job before it takes an id, so its transaction already has a number.
 * @param marks the marks that earlier calls returned
 * @returns the id, null if no mark is final yet, and the marks that are not final
 */
export async function findFinalEvent(
  db: Queryable,
  marks: readonly EventMark[],
): Promise<{ readonly upTo: number | null; readonly marks: readonly EventMark[] }> {
  // Two statements, in this order: a transaction that begins between them must count as open.
  const top = await valueOf(db, z.coerce.number())`
     select case when is_called then last_value else 0 end from nightdesk_data.run_events_event_id_seq`;
  const { oldest, next } = await oneRowOf(db, snapshotSchema)`
     select pg_snapshot_xmax(seen)::text as next,
            (select min(open::text::bigint)::text from pg_snapshot_xip(seen) open
              where open::xid in (select backend_xid from pg_stat_activity where datname = current_database()
                                  union all
                                  select transaction from pg_prepared_xacts where database = current_database())) as oldest
       from pg_current_snapshot() seen`;
  const all = [...marks, { top, next, seenAt: performance.now() }];
  const isFinal = (mark: EventMark): boolean => oldest === null || mark.next <= oldest;
  const final = all.filter(isFinal).map((mark) => mark.top);
  return {
    upTo: final.length === 0 ? null : Math.max(...final),
    // Each call during a long transaction adds a mark. The first MOST_MARKS suffice until it has ended.
    marks: all.filter((mark) => !isFinal(mark)).slice(0, MOST_MARKS),
  };
}

const MOST_MARKS = 32;
