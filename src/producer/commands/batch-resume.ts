import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { resumeBatch } from "../../shared/db/jobs/batch-settings.ts";
import { notifyJobs } from "../../shared/db/jobs/batches.ts";
import { keepHolds } from "../../shared/db/jobs/holds.ts";
import type { BatchProgress } from "../../shared/db/jobs/read-batches.ts";
import { findNamedBatch } from "../find-named-batch.ts";
import { batchJson, describeCounts, describeState } from "../print/describe-batch.ts";
import { holdRemedy } from "../print/describe-hold.ts";
import { hintWorker } from "../wait/hint-worker.ts";
import { argumentOf } from "./read-options.ts";

/** Lets a batch that was paused go on. Another reason may still hold it. */
export const batchResume: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  return withDatabase(context, "must-exist", async (database) => {
    const { batchId } = await findNamedBatch(database, argumentOf(invocation));
    const outcome = await resumeBatch(database, batchId);
    await keepHolds(database);
    await notifyJobs(database);
    const batch = await findNamedBatch(database, batchId);
    if (invocation.options["json"] === true) await context.terminal.printJson(batchJson(batch));
    sayResumed(context, batch, outcome);
    if (batch.state === "queued" || batch.state === "running") await hintWorker(context, database);
    return EXIT.ok;
  });
};

function sayResumed(
  { terminal }: CommandContext,
  batch: BatchProgress,
  outcome: "resumed" | "not_paused",
): void {
  const remedy = holdRemedy(batch);
  const done = outcome === "resumed" ? "was resumed" : "was not paused";
  const state =
    remedy === undefined ? describeCounts(batch) : `it is ${describeState(batch)}; ${remedy}`;
  const ended = batch.finishedAt === null ? state : `it is ${batch.state}`;
  terminal.say(`Batch ${JSON.stringify(batch.name)} ${done}: ${ended}${remedy ? "" : "."}`);
}
