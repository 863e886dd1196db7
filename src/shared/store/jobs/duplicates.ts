import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { camelRow, countRows, execute, rowsOf, valueOf } from "../connection/rows.ts";

const fileJobSchema = camelRow({
  job_id: z.string(),
  custom_id: z.string(),
  path: z.string(),
  task: z.string(),
  is_new: z.boolean(),
});

/** A job on a file. Jobs with the same task on different files have equal `task`; `isNew`: the job's load is not open yet. */
export type ComparedJob = z.infer<typeof fileJobSchema>;

/**
 * The jobs of a batch that work on one file each, in order of insertion: those of a load that is not open yet, and earlier ones
 * that have a result or are unfinished.
 */
export const selectComparedJobs = (
  db: Queryable,
  batchId: string,
): Promise<readonly ComparedJob[]> =>
  rowsOf(db, fileJobSchema, [batchId])`
     select j.job_id, j.custom_id, j.input->>'path' as path, md5((j.input - 'path')::text) as task, ${IS_NEW} as is_new
       from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id)
      where j.batch_id = $1 and j.kind in ('summarize', 'extract')
        and j.state in ('queued', 'running', 'parked', 'succeeded')
      order by j.seq`;

const IS_NEW = "(j.state = 'queued' and (b.state = 'loading' or j.due_at = 'infinity'))";

/** A job whose file is a copy, the job that runs in its place, and the message about it. */
export type DuplicateJob = {
  readonly jobId: string;
  readonly duplicateOf: string;
  readonly message: string;
};

/**
 * Ends jobs of a load that is not open yet, because other jobs run in their place: each row stays and names the other job. Must
 * run in the transaction that opens the batch.
 * @returns how many
 */
export async function endDuplicates(
  db: Queryable,
  batchId: string,
  duplicates: readonly DuplicateJob[],
): Promise<number> {
  if (duplicates.length === 0) return 0;
  // A cancellation also locks the batch first and then its jobs.
  await execute(db, [batchId])`
     select from nightdesk_data.batches where batch_id = $1 for no key update`;
  return countRows(db, [
    batchId,
    duplicates.map(({ jobId }) => jobId),
    duplicates.map(({ duplicateOf }) => duplicateOf),
    duplicates.map(({ message }) => message),
  ])`
     update nightdesk_data.jobs j
        set state = 'cancelled', error_code = 'DUPLICATE', error_message = d.message, duplicate_of = d.duplicate_of,
            finished_at = now(), due_at = now()
       from unnest($2::uuid[], $3::uuid[], $4::text[]) as d (job_id, duplicate_of, message)
            join nightdesk_data.jobs o on o.job_id = d.duplicate_of, nightdesk_data.batches b
      where j.batch_id = $1 and b.batch_id = j.batch_id and j.job_id = d.job_id and ${IS_NEW}
        -- It may have ended without a result since they were compared.
        and o.state in ('queued', 'running', 'parked', 'succeeded')`;
}

/** The number of jobs of a batch that do not run because their files are copies. */
export const countDuplicates = (db: Queryable, batchId: string): Promise<number> =>
  valueOf(db, z.coerce.number(), [batchId])`
     select count(*) as jobs from nightdesk_data.jobs
      where batch_id = $1 and state = 'cancelled' and error_code = 'DUPLICATE'`;
