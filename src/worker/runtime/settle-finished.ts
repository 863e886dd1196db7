import type { Queryable } from "../../shared/store/connection/database.ts";
import { completeBatches } from "../../shared/store/jobs/batches.ts";
import type { CompletedBatch } from "../../shared/store/jobs/batches.ts";
import { isSettled, settleRun } from "../../shared/store/jobs/settle-run.ts";
import type { EndedRun } from "../../shared/store/jobs/settle-run.ts";
import type { FinishedRun } from "./process-delivery.ts";

/** How many other open jobs may be left when it is still worth asking whether the batch has ended. */
const NEARLY_DONE = 64;

/** What the runs of a worker are made with. */
export type MadeWith = Omit<EndedRun, "runId" | "runMs">;

export type SettleParts = { readonly database: Queryable; readonly madeWith: MadeWith };

/**
 * Writes the result of a run, and ends its batch after the last. May be called again after the connection broke.
 * @returns `lost` when the job was not this run's any more, and nothing was written
 */
export async function settleFinished(
  { database, madeWith }: SettleParts,
  { job, runMs, settlement, record }: FinishedRun,
  onCompleted: (batches: readonly CompletedBatch[]) => void,
): Promise<"settled" | "lost"> {
  const run = { runId: job.runId, runMs, ...madeWith };
  const settled = await settleRun(database, run, settlement, record);
  if (settled === undefined) return (await isSettled(database, job.runId)) ? "settled" : "lost";
  if (settled.remaining < NEARLY_DONE) {
    // The result is stored. What fails here, the upkeep of any worker does a moment later.
    await completeBatches(database, job.batchId).then(onCompleted, () => undefined);
  }
  return "settled";
}
