import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { Database, Queryable } from "../connection/database.ts";
import { execute, valueOf } from "../connection/rows.ts";
import type { BatchSettings } from "./batch-settings.ts";
import { findOrCreateBatch, openBatch } from "./batches.ts";
import { evaluateHolds } from "./holds.ts";
import { insertJobs, newJob } from "./insert-jobs.ts";
import type { JobInput } from "../../job/job.ts";

export type QueuedJob = {
  readonly jobId: string;
  readonly batchId: string;
  readonly batch: string;
};

/** For a job that a user waits for: it ignores the windows of the installation. */
export const AT_ONCE: BatchSettings = { windows: [] };

/**
 * Queues one job in a batch of its own, in one transaction, and notifies listeners for new jobs.
 * @param alongside writes other rows in that transaction
 */
export async function queueAdHoc(
  database: Database,
  input: JobInput,
  settings: BatchSettings = {},
  alongside: (db: Queryable, queued: QueuedJob) => Promise<void> = async () => undefined,
): Promise<QueuedJob> {
  const queued = await database.transaction(async (db) => {
    const inserted = await insertAdHoc(db, input, settings);
    await alongside(db, inserted);
    return inserted;
  });
  if (settings.windows?.length !== 0) await evaluateHolds(database);
  return queued;
}

/** Prefix of the custom_id of jobs from clients of nightdesk mcp. */
const OF_CLIENTS = "mcp ";

/** Queues one job for a client, unless clients have `most` unfinished jobs. The lock makes concurrent requests wait. */
export async function queueForClient(
  database: Database,
  input: JobInput,
  most: number,
): Promise<QueuedJob | "too_many"> {
  const queued = await database.transaction(async (db) => {
    await execute(db)`select from nightdesk_data.installation for no key update`;
    if ((await countOpenOfClients(db)) >= most) return undefined;
    return insertNamed(db, input, { name: OF_CLIENTS + input.kind, settings: {} });
  });
  if (queued === undefined) return "too_many";
  await evaluateHolds(database);
  return queued;
}

const countOpenOfClients = (transaction: Queryable): Promise<number> =>
  valueOf(transaction, z.coerce.number(), [OF_CLIENTS])`
     select count(*) as jobs
       from nightdesk_data.batches b join nightdesk_data.jobs j using (batch_id)
      where b.origin = 'ad_hoc' and b.state in ('loading', 'open')
        and j.state in ('queued', 'running', 'parked') and starts_with(j.custom_id, $1)`;

/** Inserts one job in a batch of its own, in the caller's transaction, without evaluating holds. */
export const insertAdHoc = (
  transaction: Queryable,
  input: JobInput,
  settings: BatchSettings,
): Promise<QueuedJob> => insertNamed(transaction, input, { name: input.kind, settings });

async function insertNamed(
  db: Queryable,
  input: JobInput,
  { name, settings }: { readonly name: string; readonly settings: BatchSettings },
): Promise<QueuedJob> {
  const batch = adHocName(name);
  const { batchId } = await findOrCreateBatch(db, batch, "ad_hoc", settings);
  const inserted = await insertJobs(db, batchId, [newJob(name, input)]);
  await openBatch(db, batchId);
  const jobId = inserted.get(name);
  if (jobId === undefined) throw new Error(`the job of batch ${batch} was not inserted`);
  return { jobId, batchId, batch };
}

/** `ask 2026-11-21T22:04:11Z 3f9a2c`: unique, and readable in a list. */
const adHocName = (name: string): string =>
  `${name} ${new Date().toISOString().slice(0, 19)}Z ${randomBytes(3).toString("hex")}`;
