import { z } from "zod";
import type { Queryable } from "../database.ts";
import { openBatch } from "./batches.ts";

/**
 * Holds new jobs back until the last line of their file was read: due never. A batch that loads needs no such
 * thing; this is for jobs that are added to one that is open already, whose other jobs go on.
 */
export async function holdBackJobs(db: Queryable, jobIds: readonly string[]): Promise<void> {
  await db.query(
    "update nightdesk_data.jobs set due_at = 'infinity' where job_id = any($1::uuid[])",
    [jobIds],
  );
}

/**
 * The last line was read: opens the batch, and makes jobs due that were held back. In this order: a cancellation, too,
 * takes the batch first and its jobs then.
 */
export async function releaseJobs(db: Queryable, batchId: string): Promise<void> {
  await openBatch(db, batchId);
  await db.query(
    `update nightdesk_data.jobs set due_at = now()
      where batch_id = $1 and state = 'queued' and due_at = 'infinity'`,
    [batchId],
  );
}

/** Deletes jobs that were held back, when the file they came from turned out bad. */
export async function deleteHeldBackJobs(db: Queryable, batchId: string): Promise<void> {
  await db.query(
    "delete from nightdesk_data.jobs where batch_id = $1 and state = 'queued' and due_at = 'infinity'",
    [batchId],
  );
}

const heldBackSchema = z.tuple([z.object({ jobs: z.coerce.number() })]);

/** Jobs of a load that was interrupted: they wait until the same file is enqueued again. */
export async function countHeldBackJobs(db: Queryable, batchId: string): Promise<number> {
  const { rows } = await db.query(
    `select count(*) as jobs from nightdesk_data.jobs
      where batch_id = $1 and state = 'queued' and due_at = 'infinity'`,
    [batchId],
  );
  return heldBackSchema.parse(rows)[0].jobs;
}
