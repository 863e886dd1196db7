import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { oneRowOf, rowOf } from "../connection/rows.ts";
import { guardBy } from "../connection/locks.ts";

/** `cut` counts outputs of which only head and tail are stored. */
const usedSchema = z.object({ bytes: z.coerce.number(), cut: z.number() });
/** Size of the stored tool outputs of a batch. Equal bytes count each time. */
type BatchOutputs = z.infer<typeof usedSchema>;

/** The stored outputs of a job's batch; 0 before the first. */
export async function selectBatchOutputs(db: Queryable, jobId: string): Promise<BatchOutputs> {
  const used = await rowOf(db, usedSchema, [jobId])`
     select o.bytes, o.cut from nightdesk_data.jobs j join nightdesk_data.batch_outputs o using (batch_id)
      where j.job_id = $1`;
  return used ?? { bytes: 0, cut: 0 };
}

const expiredSchema = z.object({
  is_held: z.boolean(),
  outputs: z.coerce.number(),
  bytes: z.coerce.number(),
});

/** Outputs that one slice expired. busy: another worker does this now. */
type ExpiredSlice =
  { readonly kind: "busy" } | { readonly kind: "expired"; outputs: number; bytes: number };

/**
 * Expires up to `limit` outputs of jobs that have ended: archives of state first, then outputs past their time. The row of each
 * stays and records the removal; `deleteUnusedSlice` deletes the bytes. Outputs of unfinished jobs, and those that an answer may
 * rest on, never expire.
 */
export async function expireOutputsSlice(db: Queryable, limit: number): Promise<ExpiredSlice> {
  const row = await oneRowOf(db, expiredSchema, [limit])`
     with ${guardBy("artifacts")},
     due as materialized (
       (select u.job_id, u.step, u.stream, j.batch_id, u.bytes
          from guard, nightdesk_data.artifact_uses u join nightdesk_data.jobs j using (job_id)
         where guard.held and u.class = 'state' and u.removed_at is null and j.finished_at is not null limit $1)
       union all
       (select u.job_id, u.step, u.stream, j.batch_id, u.bytes
          from guard, nightdesk_data.artifact_uses u join nightdesk_data.jobs j using (job_id)
         where guard.held and u.class = 'output' and u.removed_at is null and u.expires_at <= clock_timestamp()
           and j.finished_at is not null
         order by u.expires_at limit $1)
       limit $1),
     gone as (
       update nightdesk_data.artifact_uses u set removed_at = clock_timestamp()
         from due where u.job_id = due.job_id and u.step = due.step and u.stream = due.stream and u.removed_at is null
       returning due.batch_id, u.bytes),
     counted as (
       update nightdesk_data.batch_outputs o set bytes = greatest(0, o.bytes - sums.bytes)
         from (select batch_id, sum(bytes) as bytes from gone group by batch_id) sums where o.batch_id = sums.batch_id)
     select held as is_held, (select count(*) from gone) as outputs, (select coalesce(sum(bytes), 0) from gone) as bytes
       from guard`;
  return row.is_held
    ? { kind: "expired", outputs: row.outputs, bytes: row.bytes }
    : { kind: "busy" };
}

const unusedSchema = z.object({
  is_held: z.boolean(),
  last: z.string().nullable(),
  artifacts: z.coerce.number(),
  bytes: z.coerce.number(),
});

/** Contents that one slice deleted. `next` is the start of the next slice; null after the last. */
type UnusedSlice =
  | { readonly kind: "busy" }
  | { readonly kind: "deleted"; artifacts: number; bytes: number; next: string | null };

/** The `after` of the first slice. */
export const FIRST_CONTENT = "";

/**
 * Checks up to `limit` contents in order of their hashes, and deletes those that no output uses any more.
 *
 * A concurrent step with the same bytes sets `used_at` in the transaction of its own row. If this statement locks the content
 * first, the step waits and writes it again. Otherwise this statement skips the content: it is locked, or its current row was
 * used a moment ago, although the snapshot may not show that use.
 * @param graceSeconds longer than any statement of a step
 */
export async function deleteUnusedSlice(
  db: Queryable,
  after: string,
  { limit, graceSeconds }: { readonly limit: number; readonly graceSeconds: number },
): Promise<UnusedSlice> {
  const row = await oneRowOf(db, unusedSchema, [after, limit, graceSeconds])`
     with ${guardBy("artifacts")},
     slice as materialized (
       select a.sha256, a.bytes from guard, nightdesk_data.artifacts a
        where guard.held and a.sha256 > $1 order by a.sha256 limit $2),
     unused as materialized (
       select a.sha256 from slice join nightdesk_data.artifacts a using (sha256)
        where a.used_at < clock_timestamp() - make_interval(secs => $3)
          and not exists (select from nightdesk_data.artifact_uses u where u.kept_sha256 = a.sha256)
        order by a.sha256 for update of a skip locked),
     gone as (
       delete from nightdesk_data.artifacts a using unused where a.sha256 = unused.sha256 returning a.bytes)
     select held as is_held, (select max(sha256) from slice having count(*) = $2) as last,
            (select count(*) from gone) as artifacts, (select coalesce(sum(bytes), 0) from gone) as bytes
       from guard`;
  return row.is_held
    ? { kind: "deleted", artifacts: row.artifacts, bytes: row.bytes, next: row.last }
    : { kind: "busy" };
}
