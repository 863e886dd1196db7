import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { changeBatch } from "../../shared/db/jobs/batch-settings.ts";
import { notifyJobs } from "../../shared/db/jobs/batches.ts";
import { keepHolds } from "../../shared/db/jobs/holds.ts";
import type { BatchProgress } from "../../shared/db/jobs/read-batches.ts";
import { Failure } from "../../shared/failure.ts";
import { findNamedBatch } from "../find-named-batch.ts";
import { batchJson, describeState } from "../print/describe-batch.ts";
import { describeMoment } from "../print/describe-moment.ts";
import { holdRemedy } from "../print/describe-hold.ts";
import { batchSettingsOf } from "./read-batch-settings.ts";
import { argumentOf } from "./read-options.ts";

/** Changes when a batch may run, when it expires, and what it comes before. */
export const batchSet: CommandHandler = async (invocation) => {
  const settings = batchSettingsOf(invocation.options);
  if (Object.keys(settings).length === 0) {
    throw new Failure(
      "USAGE_ERROR",
      "Nothing to set; give --windows, --no-windows, --deadline or --priority.",
    );
  }
  const context = await openContext(invocation);
  return withDatabase(context, "must-exist", async (database) => {
    const { batchId, name, state } = await findNamedBatch(database, argumentOf(invocation));
    if ((await changeBatch(database, batchId, settings)) === "ended") {
      throw new Failure(
        "INPUT_INVALID",
        `Batch ${JSON.stringify(name)} is ${state}; there is nothing to set. ` +
          `What did not succeed is queued again by: nightdesk batch retry ${JSON.stringify(name)}`,
      );
    }
    await keepHolds(database);
    await notifyJobs(database);
    return printChanged(context, await findNamedBatch(database, batchId));
  });
};

async function printChanged(
  { terminal, invocation }: CommandContext,
  batch: BatchProgress,
): Promise<number> {
  if (invocation.options["json"] === true) await terminal.printJson(batchJson(batch));
  const { windows, deskWindows, deadlineAt, priority } = batch;
  const inForce = windows ?? deskWindows;
  const facts = [
    inForce.length === 0
      ? "runs at any time"
      : `runs in ${inForce.join(", ")}${windows === null ? " (of the desk)" : ""}`,
    deadlineAt === null ? "has no deadline" : `expires ${describeMoment(deadlineAt)}`,
    `has priority ${priority}`,
  ];
  terminal.say(`Batch ${JSON.stringify(batch.name)} ${facts.join(", ")}.`);
  const remedy = holdRemedy(batch);
  if (remedy !== undefined) terminal.say(`It is ${describeState(batch)}; ${remedy}`);
  return EXIT.ok;
}
