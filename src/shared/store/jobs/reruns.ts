import { z } from "zod";
import { jobInputSchema } from "../../job/job.ts";
import type { Queryable } from "../connection/database.ts";
import { camelRow, countRows, execute, oneRowOf } from "../connection/rows.ts";
import { PRESENT_TYPES, presentRowOf, REASONS_SQL, STALE_REASONS } from "./evidence.ts";
import type { CurrentVersion } from "./evidence.ts";

/** Which jobs of a batch to rerun: those in the states plus the stale ones, if all conditions of `where` match. */
export type RerunFilter = {
  /** Final states, and error codes; with none, and without `stale`, every job that has ended. */
  readonly states: readonly string[];
  /** The state that results are compared with, to select stale ones too; null to select none. */
  readonly stale: CurrentVersion | null;
  /** Each column must have one of the values; null for any value. */
  readonly where: {
    readonly kind: readonly string[] | null;
    readonly state: readonly string[] | null;
    readonly errorCode: readonly string[] | null;
    /** Regular expressions. */
    readonly path: readonly string[] | null;
    readonly customId: readonly string[] | null;
  };
};

const candidateSchema = camelRow({
  job_id: z.string(),
  custom_id: z.string(),
  input: jobInputSchema,
  priority: z.number(),
  size: z.coerce.number(),
  reasons: z.array(z.enum(STALE_REASONS)),
});

/** A job to rerun, with the reasons why its result is stale, if stale jobs are selected. */
export type RerunCandidate = z.infer<typeof candidateSchema>;

const pageSchema = z.object({ last: z.string().nullable(), chosen: z.array(z.unknown()) });

/** The `after` of the first page. */
export const FIRST_JOB = "0";

/**
 * Checks the next `limit` jobs of a batch in order of insertion.
 * @param after `last` of the page before, or FIRST_JOB
 * @returns the jobs to rerun, and the last job of the page; null when there was none
 */
export async function selectRerunPage(
  db: Queryable,
  batchId: string,
  { states, stale, where }: RerunFilter,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ readonly last: string | null; readonly chosen: readonly RerunCandidate[] }> {
  const { last, chosen } = await oneRowOf(db, pageSchema, [
    batchId,
    after,
    limit,
    states,
    stale === null ? null : JSON.stringify(presentRowOf(stale)),
    where.kind,
    where.state,
    where.errorCode,
    where.path,
    where.customId,
  ])`${PAGE}`;
  return { last, chosen: z.array(candidateSchema).parse(chosen) };
}

// Jobs that maintain the index are queued by Nightdesk alone, so they are left out. A duplicate is included only when its error
// code is named; any other filter means the job that ran in its place.
const PAGE = `
with page as materialized (
  select * from nightdesk_data.jobs where batch_id = $1 and seq > $2::bigint order by seq limit $3),
judged as (
  select j.job_id, j.seq, j.custom_id, j.input, j.priority, j.size,
         j.state = any($4::text[]) or j.error_code = any($4::text[]) or cardinality($4::text[]) = 0 and $5::jsonb is null as wanted,
         case when $5::jsonb is null or j.state not in ('succeeded', 'refused') then '{}'::text[]
              else (select ${REASONS_SQL}
                      from jsonb_to_record($5::jsonb) as now (${PRESENT_TYPES}), nightdesk_data.runs r
                     where r.run_id = j.run_id) end as reasons
    from page j
   where j.finished_at is not null
     and (j.duplicate_of is null or 'DUPLICATE' = any($8::text[]))
     and (j.kind in ('ask', 'summarize', 'extract', 'digest', 'chat') or j.kind = 'embed' and j.input ? 'text')
     and ($6::text[] is null or j.kind = any($6::text[]))
     and ($7::text[] is null or j.state = any($7::text[]))
     and ($8::text[] is null or j.error_code = any($8::text[]))
     and ($9::text[] is null or j.input->>'path' ~ any($9::text[]))
     and ($10::text[] is null or j.custom_id ~ any($10::text[])))
select (select max(seq)::text from page) as last,
       coalesce(jsonb_agg(to_jsonb(judged) - 'seq' - 'wanted' order by seq), '[]') as chosen
  from judged where wanted or cardinality(reasons) > 0`;

/** Copies windows, priority and format of the old batch to the new one, and its deadline unless that has passed. */
export const copyBatchSettings = (
  db: Queryable,
  fromBatch: string,
  toBatch: string,
): Promise<void> =>
  execute(db, [fromBatch, toBatch])`
     update nightdesk_data.batches b set windows = o.windows, priority = o.priority, format = o.format,
            deadline_at = case when o.deadline_at > clock_timestamp() then o.deadline_at end
       from nightdesk_data.batches o where o.batch_id = $1 and b.batch_id = $2`;

/**
 * Adds the digests of the old batch that include a rerun job, and the digests above them.
 * @returns how many
 */
export const insertDigestsAbove = (
  db: Queryable,
  fromBatch: string,
  toBatch: string,
): Promise<number> =>
  countRows(db, [fromBatch, toBatch])`
     with recursive above as (
       select d.parent_id from nightdesk_data.jobs n
         join nightdesk_data.job_dependencies d on d.child_id = n.rerun_of
        where n.batch_id = $2
        union
       select d.parent_id from above join nightdesk_data.job_dependencies d on d.child_id = above.parent_id)
     insert into nightdesk_data.jobs (batch_id, custom_id, kind, input, input_sha256, priority, affinity, size, rerun_of)
     select $2, custom_id, kind, input, input_sha256, priority, affinity, size, job_id
       from nightdesk_data.jobs
      where batch_id = $1 and finished_at is not null and job_id in (select parent_id from above)
      order by seq
     on conflict (batch_id, custom_id) do nothing`;

/** Links digests to their children: to the new job of a rerun child, and to the old job of any other. */
export async function linkDigests(db: Queryable, toBatch: string): Promise<void> {
  await execute(db, [toBatch])`
     insert into nightdesk_data.job_dependencies (parent_id, child_id)
     select p.job_id, coalesce(n.job_id, d.child_id)
       from nightdesk_data.jobs p
       join nightdesk_data.job_dependencies d on d.parent_id = p.rerun_of
       left join nightdesk_data.jobs n on n.rerun_of = d.child_id and n.batch_id = p.batch_id
      where p.batch_id = $1 and p.kind = 'digest'
     on conflict do nothing`;
  await execute(db, [toBatch])`
     update nightdesk_data.jobs p set waits_for = n
       from (select d.parent_id, count(*)::integer as n
               from nightdesk_data.jobs c join nightdesk_data.job_dependencies d on d.child_id = c.job_id
              where c.batch_id = $1 and c.finished_at is null group by d.parent_id) open
      where p.job_id = open.parent_id and p.batch_id = $1 and p.kind = 'digest'`;
}
