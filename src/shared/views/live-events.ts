import { z } from "zod";
import type { Queryable } from "../store/connection/database.ts";
import { oneRowOf, rowsOf, valueOf } from "../store/connection/rows.ts";

const eventSchema = z.object({
  event_id: z.coerce.number(),
  run_id: z.string(),
  job_id: z.string(),
  batch_id: z.string(),
  /** Null of a job that was queued by itself. */
  batch: z.string().nullable(),
  /** The id of the job in its batch; of one that was queued by itself its question or path. */
  custom_id: z.string(),
  kind: z.string(),
  step: z.string(),
  duration_ms: z.number(),
  /** Of the run, as it is now. */
  state: z.string(),
});

/** A step of a run, as somebody who looks on is told of it. */
export type LiveEvent = z.infer<typeof eventSchema>;

/** Steps of runs in the order of their ids, from after one up to another. */
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

/** An id that was given out, the transaction that came next then, and when that was by the clock of `performance.now()`. */
export type EventMark = { readonly top: number; readonly next: bigint; readonly seenAt: number };

const snapshotSchema = z.object({
  oldest: z.string().transform(BigInt).nullable(),
  next: z.string().transform(BigInt),
});

/**
 * Up to which id nothing can come any more. Ids are given out in order and committed in any: the ids that were out at a mark
 * are final when every transaction of this database that was open then has ended, which is when the oldest one that is open
 * now began after it. Those of other databases of the server write no event. A writer holds the row of its job before it
 * takes an id, so that its transaction has a number by then.
 * @param marks those that were left over
 * @returns the id, null where no mark is final yet, and the marks that are left
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
    // A transaction that stays open for long leaves one mark a look: the first of them is enough until it has ended.
    marks: all.filter((mark) => !isFinal(mark)).slice(0, MOST_MARKS),
  };
}

const MOST_MARKS = 32;
