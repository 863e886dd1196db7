import { z } from "zod";
import { JOB_STATES, KINDS } from "../../job/job.ts";
import type { Queryable } from "../connection/database.ts";
import { camelRow, execute, rowsOf, valueOf } from "../connection/rows.ts";

type Dependency = { readonly parentId: string; readonly childId: string };

/**
 * Makes jobs wait for other jobs: inserts rows of job_dependencies, and sets `waits_for` to the number of unfinished children. To
 * be called in the transaction that inserts the parents, so that nobody sees a parent that does not wait yet. Locks the children
 * against ending meanwhile, so that the trigger counts each of them exactly once.
 */
export async function insertDependencies(
  db: Queryable,
  dependencies: readonly Dependency[],
): Promise<void> {
  const parents = dependencies.map(({ parentId }) => parentId);
  const children = dependencies.map(({ childId }) => childId);
  // In the order in which a cancellation locks jobs; another order could deadlock.
  await execute(db, [children])`
     select from nightdesk_data.jobs where job_id = any($1::uuid[]) order by seq for share`;
  await execute(db, [parents, children])`
     insert into nightdesk_data.job_dependencies (parent_id, child_id)
     select * from unnest($1::uuid[], $2::uuid[]) on conflict do nothing`;
  await execute(db, [parents])`
     update nightdesk_data.jobs p set waits_for = open.n
       from (select d.parent_id, count(*)::integer as n
               from nightdesk_data.job_dependencies d join nightdesk_data.jobs c on c.job_id = d.child_id
              where d.parent_id = any($1::uuid[]) and c.finished_at is null group by d.parent_id) open
      where p.job_id = open.parent_id and p.state = 'queued'`;
}

const fileJobSchema = camelRow({ job_id: z.string(), path: z.string() });
export type FileJob = z.infer<typeof fileJobSchema>;

/** The jobs of a batch that summarize or extract one file each, by path, without duplicates. */
export const selectFileJobs = (db: Queryable, batchId: string): Promise<readonly FileJob[]> =>
  rowsOf(db, fileJobSchema, [batchId])`
     select job_id, input->>'path' as path from nightdesk_data.jobs
      where batch_id = $1 and kind in ('summarize', 'extract') and duplicate_of is null
      order by input->>'path' collate "C", seq`;

/** The number of digests of the whole batch. */
export const countBatchDigests = (db: Queryable, batchId: string): Promise<number> =>
  valueOf(db, z.coerce.number(), [batchId])`
     select count(*) as digests from nightdesk_data.jobs
      where batch_id = $1 and kind = 'digest' and input->>'level' = 'batch'`;

/** An item that a digest lacks, with the reason; a stored form. */
export const leftOutSchema = z.object({
  path: z.string(),
  kind: z.string(),
  state: z.string(),
  error_code: z.string().nullable(),
  job_id: z.string(),
});
export type LeftOut = z.infer<typeof leftOutSchema>;

const childSchema = z.object({
  job_id: z.string(),
  kind: z.enum(KINDS),
  state: z.enum(JOB_STATES),
  error_code: z.string().nullable(),
  path: z.string(),
  answer: z.string().nullable(),
  fields: z.record(z.string(), z.unknown()).nullable(),
  left_out: z.array(leftOutSchema).nullable(),
});
export type ChildRow = z.infer<typeof childSchema>;

/**
 * The jobs that a digest sums up, with their results: files by path, then digests by title. In this order, so that equal answers
 * make equal prompts.
 */
export const selectDigestChildren = (
  db: Queryable,
  parentId: string,
): Promise<readonly ChildRow[]> =>
  rowsOf(db, childSchema, [parentId])`
     select j.job_id, j.kind, j.state, j.error_code,
            coalesce(j.input->>'path', j.input->>'title', j.custom_id) as path, r.answer,
            case when j.kind = 'extract' then r.summary end as fields,
            case when j.kind = 'digest' then r.summary->'failed' end as left_out
       from nightdesk_data.job_dependencies d
       join nightdesk_data.jobs j on j.job_id = d.child_id
       left join nightdesk_data.runs r on r.run_id = j.run_id and r.state = 'succeeded'
      where d.parent_id = $1
      order by j.kind = 'digest', coalesce(j.input->>'path', j.input->>'title', j.custom_id) collate "C", j.kind, j.seq`;
