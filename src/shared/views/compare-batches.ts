import { z } from "zod";
import type { Queryable } from "../store/connection/database.ts";
import { rowOf, rowsOf } from "../store/connection/rows.ts";

const count = z.coerce.number();

const CHANGES = ["new", "changed", "broken", "fixed", "gone", "same", "open"] as const;
/**
 * new: no such job before. changed: another answer. broken: succeeded before, and does not now. fixed: the reverse. gone:
 * no such job now. same: every other job that has ended. open: has not ended.
 */
export type Change = (typeof CHANGES)[number];

const changeSchema = z.object({
  change: z.enum(CHANGES),
  jobs: count,
  examples: z.array(
    z.object({
      custom_id: z.string(),
      kind: z.string(),
      code_before: z.string().nullable(),
      code_now: z.string().nullable(),
    }),
  ),
});
export type ChangeRow = z.infer<typeof changeSchema>;

/**
 * Compares a batch with an earlier one, job by job. A job is paired with the job that it reruns, else with the one of the
 * same custom_id. Answers are compared without their scope footers, which list files and are not part of the answer. A
 * duplicate is compared by the job that ran in its place, which holds its result.
 */
export const compareBatches = (
  db: Queryable,
  batches: { readonly now: string; readonly before: string },
  examples: number,
): Promise<readonly ChangeRow[]> =>
  rowsOf(db, changeSchema, [batches.now, batches.before, examples])`${COMPARE}`;

// A subquery, and no join: a join would carry the answers of both batches through its hash tables.
const SAME_ANSWER = `(select case when n.kind = 'extract' then a.summary is not distinct from b.summary
                 else a.answer is not distinct from b.answer or replace(coalesce(a.answer, ''), coalesce(a.scope, ''), '')
                      = replace(coalesce(b.answer, ''), coalesce(b.scope, ''), '') end
           from nightdesk_data.runs a, nightdesk_data.runs b where a.run_id = n.run_id and b.run_id = p.run_id)`;

const jobsOf = (batch: "$1" | "$2"): string => `
  select j.job_id, j.seq, j.custom_id, j.kind, j.rerun_of, worked.state, worked.run_id, worked.error_code,
         worked.finished_at
    from nightdesk_data.jobs j
    join nightdesk_data.jobs worked on worked.batch_id = ${batch} and worked.job_id = coalesce(j.duplicate_of, j.job_id)
   where j.batch_id = ${batch}`;

const COMPARE = `
with mine as materialized (${jobsOf("$1")}),
earlier as materialized (${jobsOf("$2")}),
paired as materialized (
  select n.job_id as now_id, coalesce(repeated.job_id, named.job_id) as before_id
    from mine n
    left join earlier repeated on repeated.job_id = n.rerun_of
    left join earlier named on named.custom_id = n.custom_id),
judged as (
  select n.job_id, n.seq,
         case when n.finished_at is null then 'open'
              when p.job_id is null then 'new'
              when n.state = 'succeeded' and p.state <> 'succeeded' then 'fixed'
              when n.state <> 'succeeded' and p.state = 'succeeded' then 'broken'
              when n.state = 'succeeded' and not ${SAME_ANSWER} then 'changed'
              else 'same' end as change,
         p.error_code as code_before, n.error_code as code_now
    from paired
    join mine n on n.job_id = paired.now_id
    left join earlier p on p.job_id = paired.before_id
   union all
  select g.job_id, g.seq, 'gone', g.error_code, null from earlier g
   where not exists (select from paired where before_id = g.job_id)),
placed as materialized (
  select *, row_number() over (partition by change order by seq) as place from judged)
select g.change, g.jobs, coalesce(e.examples, '[]') as examples
  from (select change, count(*) as jobs from placed group by change) g
  left join lateral (
    select jsonb_agg(jsonb_build_object('custom_id', j.custom_id, 'kind', j.kind, 'code_before', p.code_before,
             'code_now', p.code_now) order by p.seq) as examples
      from placed p join nightdesk_data.jobs j using (job_id)
     where p.change = g.change and p.place <= $3 and g.change not in ('same', 'open')) e on true
 order by array_position(array['${CHANGES.join("', '")}'], g.change)`;

const candidateSchema = z.object({ batch_id: z.string(), name: z.string(), created_at: z.date() });
export type EarlierBatch = z.infer<typeof candidateSchema>;

/** Batches that were queued before this one and whose names begin alike, newest first. */
const selectEarlierBatches = (
  db: Queryable,
  batchId: string,
  stem: string,
): Promise<readonly EarlierBatch[]> =>
  rowsOf(db, candidateSchema, [batchId, stem])`
     select b.batch_id, b.name, b.created_at
       from nightdesk_data.batches b, nightdesk_data.batches mine
      where mine.batch_id = $1 and b.batch_id <> mine.batch_id and b.origin = mine.origin
        and b.created_at <= mine.created_at and starts_with(b.name, $2) and b.state <> 'loading'
      order by b.created_at desc, b.name limit 100`;

/** The batch that most jobs of this one rerun, if any do. */
const selectRepeatedBatch = (db: Queryable, batchId: string): Promise<EarlierBatch | undefined> =>
  rowOf(db, candidateSchema, [batchId])`
     select b.batch_id, b.name, b.created_at
       from nightdesk_data.jobs j
       join nightdesk_data.jobs p on p.job_id = j.rerun_of
       join nightdesk_data.batches b on b.batch_id = p.batch_id
      where j.batch_id = $1 and j.rerun_of is not null and b.batch_id <> $1
      group by b.batch_id, b.name, b.created_at order by count(*) desc, b.name limit 1`;

/** The batch whose jobs this one reruns, else the latest earlier batch whose name differs only in its day or number. */
export async function findLastAlike(
  db: Queryable,
  { batchId, name }: { readonly batchId: string; readonly name: string },
): Promise<EarlierBatch | undefined> {
  const repeated = await selectRepeatedBatch(db, batchId);
  if (repeated !== undefined) return repeated;
  const stem = nameStem(name);
  const earlier = await selectEarlierBatches(db, batchId, stem);
  return earlier.find((each) => nameStem(each.name) === stem);
}

/** A day and the rest of the name, or numbers at the end: the part that differs from one night's batch to the next. */
const DAY = /[\s._-]*\d{4}-\d{2}-\d{2}(?!\d).*$/s;
const NUMBER = /[\s._-]*\d+$/;

/** The common part of the names of a nightly batch: `minutes 2026-11-21T22:00:00Z` and `minutes-2` give `minutes`. */
function nameStem(name: string): string {
  const stem = name.replace(DAY, "");
  const bare = stem === name ? name.replace(NUMBER, "") : stem;
  return bare === "" ? name : bare;
}
