import { randomBytes } from "node:crypto";
import type { Database } from "../connection/database.ts";
import type { BatchSettings } from "./batch-settings.ts";
import { findOrCreateBatch, openBatch } from "./batches.ts";
import { evaluateHolds } from "./holds.ts";
import { insertJobs } from "./insert-jobs.ts";
import type { JobInput } from "../../job.ts";
import { hashJson } from "../../json-value.ts";

export type QueuedJob = {
  readonly jobId: string;
  readonly batchId: string;
  readonly batch: string;
};

/** Somebody who waits for an answer wants it now, whatever the windows of the desk are. */
export const AT_ONCE: BatchSettings = { windows: [] };

/** Queues one job in a batch of its own, in one transaction. Whoever listens for new jobs hears of it. */
export async function queueAdHoc(
  database: Database,
  input: JobInput,
  settings: BatchSettings = {},
): Promise<QueuedJob> {
  const queued = await insertAdHoc(database, input, settings);
  if (settings.windows?.length !== 0) await evaluateHolds(database);
  return queued;
}

async function insertAdHoc(
  database: Database,
  input: JobInput,
  settings: BatchSettings,
): Promise<QueuedJob> {
  const batch = adHocName(input.kind);
  return database.transaction(async (db) => {
    const { batchId } = await findOrCreateBatch(db, batch, "ad_hoc", settings);
    const inserted = await insertJobs(db, batchId, [
      { customId: input.kind, input, inputSha256: hashJson(input), priority: 0 },
    ]);
    await openBatch(db, batchId);
    const jobId = inserted.get(input.kind);
    if (jobId === undefined) throw new Error(`the job of batch ${batch} was not inserted`);
    return { jobId, batchId, batch };
  });
}

/** `ask 2026-11-21T22:04:11Z 3f9a2c`: unique, and readable in a list. */
const adHocName = (kind: string): string =>
  `${kind} ${new Date().toISOString().slice(0, 19)}Z ${randomBytes(3).toString("hex")}`;
