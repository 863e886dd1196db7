import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { camelRow, execute, oneRowOf, rowsOf, valueOf } from "../connection/rows.ts";
import { guardBy } from "../connection/locks.ts";

/** Which finished batches are old enough to be deleted. */
export type Retention = {
  readonly olderThanMs: number;
  /** The time at which their age is measured, by the database's clock; default: the time of each call. */
  readonly asOf?: Date;
  /** exported: a batch from a file only after its results were exported. any: all batches. */
  readonly only: "exported" | "any";
};

const OLD = `b.finished_at < coalesce($3::timestamptz, now()) - make_interval(secs => $1::double precision / 1000)
   and b.state in ('completed', 'cancelled', 'expired') and b.pinned is null
   -- Those go with the batch that they are about.
   and b.parent_id is null
   and ($2 = 'any' or b.origin <> 'file' or b.exported_at >= b.finished_at)
   -- More jobs are being loaded into it, or those of a cancelled one are still being ended.
   and not exists (select from nightdesk_data.jobs open
                    where open.batch_id = b.batch_id and open.state in ('queued', 'running', 'parked'))`;

const retentionValues = ({ olderThanMs, only, asOf }: Retention) => [
  olderThanMs,
  only,
  asOf ?? null,
];

const oldSchema = camelRow({
  batch_id: z.string(),
  name: z.string(),
  finished_at: z.date(),
  jobs: z.coerce.number(),
});
export type OldBatch = z.infer<typeof oldSchema>;

/** Batches to delete, oldest first. */
export const selectOldBatches = (
  db: Queryable,
  retention: Retention,
  limit: number,
): Promise<readonly OldBatch[]> =>
  rowsOf(db, oldSchema, [...retentionValues(retention), limit])`
     select b.batch_id, b.name, b.finished_at,
            (select coalesce(sum(total), 0) from nightdesk_data.batch_counts c where c.batch_id = b.batch_id) as jobs
       from nightdesk_data.batches b where ${OLD} order by b.finished_at, b.batch_id limit $4`;

const deletedSchema = camelRow({
  is_held: z.boolean(),
  batch_id: z.string().nullable(),
  name: z.string().nullable(),
  finished_at: z.date().nullable(),
  jobs: z.coerce.number(),
  batches: z.coerce.number(),
  is_at_work: z.boolean(),
});

/** What one slice deleted, and of which batch. busy: another process deletes now. */
type DeletedSlice =
  | { readonly kind: "busy" }
  | {
      readonly kind: "deleted";
      readonly of: Omit<OldBatch, "jobs"> | null;
      readonly jobs: number;
      readonly batches: number;
      /** Whether jobs are running, which deletion must not slow down. */
      readonly isAtWork: boolean;
    };

/**
 * Deletes up to `limit` jobs of the oldest batch that is due, with all their data, and then the empty batch. One process at a
 * time, of all workers and commands; `of` is null when nothing is left to delete. `jobs` counts jobs of the batch itself: a slice
 * of its checks gives 0.
 */
export async function deleteOldSlice(
  db: Queryable,
  retention: Retention,
  limit: number,
): Promise<DeletedSlice> {
  const row = await oneRowOf(db, deletedSchema, [
    ...retentionValues(retention),
    limit,
  ])`${DELETE_SLICE}`;
  const { isHeld, batchId, name, finishedAt, jobs, batches, isAtWork } = row;
  if (!isHeld) return { kind: "busy" };
  const isNone = batchId === null || name === null || finishedAt === null;
  const of = isNone ? null : { batchId, name, finishedAt };
  return { kind: "deleted", of, jobs, batches, isAtWork };
}

// Locks the batch first, like every statement that adds jobs to it or pins it. Its own jobs go before those of batches about it
// (its checks, its exam), since the delete of its row would delete all of those in one statement. A statement does not see its
// own deletes, so an empty batch is deleted by the next slice.
const DELETE_SLICE = `
with recursive ${guardBy("retention")},
old as materialized (
  select b.batch_id, b.name, b.finished_at from guard, nightdesk_data.batches b
   where guard.held and ${OLD} order by b.finished_at, b.batch_id limit 1 for update of b skip locked),
family as (
  select batch_id, 0 as depth from old
  union all select b.batch_id, f.depth + 1 from nightdesk_data.batches b join family f on b.parent_id = f.batch_id),
slice as materialized (
  select j.job_id, f.depth from family f cross join lateral
    (select job_id from nightdesk_data.jobs where batch_id = f.batch_id order by seq limit $4) j
   where f.batch_id = (select f.batch_id from family f
                        where exists (select from nightdesk_data.jobs j where j.batch_id = f.batch_id) order by depth limit 1)),
gone as materialized (
  select nightdesk_data.delete_jobs(array_agg(job_id)) as jobs, min(depth) as depth from slice having count(*) > 0),
emptied as (
  delete from nightdesk_data.batches b using old
   where b.batch_id = old.batch_id and not exists (select from slice) returning b.batch_id)
select held as is_held, old.batch_id, old.name, old.finished_at,
       (select coalesce(sum(jobs) filter (where depth = 0), 0) from gone) as jobs,
       (select count(*) from emptied) as batches,
       exists (select from nightdesk_data.jobs where state = 'running') as is_at_work
  from guard left join old on true`;

/**
 * Deletes up to `limit` expired texts of reasoning. One worker at a time.
 * @returns how many; null while another process deletes
 */
export const deleteExpiredReasoning = (db: Queryable, limit: number): Promise<number | null> =>
  valueOf(db, z.coerce.number().nullable(), [limit])`
     with ${guardBy("retention")},
     due as materialized (
       select t.call_id from guard, nightdesk_data.call_reasoning t
        where guard.held and t.expires_at <= clock_timestamp() order by t.expires_at limit $1 for update of t skip locked),
     gone as (
       delete from nightdesk_data.call_reasoning t using due where t.call_id = due.call_id returning 1)
     select case when held then (select count(*) from gone) end as rows from guard`;

/**
 * Deletes up to `limit` records of operator actions that are older than retention keeps batches. One worker at a time.
 * @returns how many; null while another process deletes
 */
export const deleteOldActions = (
  db: Queryable,
  { olderThanMs }: Pick<Retention, "olderThanMs">,
  limit: number,
): Promise<number | null> =>
  valueOf(db, z.coerce.number().nullable(), [olderThanMs, limit])`
     with ${guardBy("retention")},
     due as materialized (
       select a.action_id, a.at from guard, nightdesk_data.operator_actions a
        where guard.held order by a.action_id limit $2),
     gone as (
       delete from nightdesk_data.operator_actions a using due
        where a.action_id = due.action_id and due.at < now() - make_interval(secs => $1::double precision / 1000) returning 1)
     select case when held then (select count(*) from gone) end as rows from guard`;

export const PINS = ["always", "until_exported"] as const;
export type Pin = (typeof PINS)[number];

/** Protects a batch from retention: for ever, or until it is exported; null ends the protection. */
export const pinBatch = (db: Queryable, batchId: string, pin: Pin | null): Promise<void> =>
  execute(db, [batchId, pin])`update nightdesk_data.batches set pinned = $2 where batch_id = $1`;

/** Records that all results of a batch were exported, and ends a pin until then. Has no effect on an unfinished batch. */
export const markExported = (db: Queryable, batchId: string): Promise<void> =>
  execute(db, [batchId])`
     update nightdesk_data.batches
        set exported_at = now(), pinned = case when pinned = 'until_exported' then null else pinned end
      where batch_id = $1 and finished_at is not null`;
