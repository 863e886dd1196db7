import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { cancelBatch } from "../../shared/db/jobs/batches.ts";
import { findNamedBatch } from "../find-named-batch.ts";
import { batchJson, describeCounts } from "../print/describe-batch.ts";
import { argumentOf } from "./read-options.ts";

export const batchCancel: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { terminal } = context;
  return withDatabase(context, "must-exist", async (database) => {
    const before = await findNamedBatch(database, argumentOf(invocation));
    await cancelBatch(database, before.batchId);
    const batch = await findNamedBatch(database, before.batchId);
    if (invocation.options["json"] === true) await terminal.printJson(batchJson(batch));
    terminal.say(
      before.finishedAt === null
        ? `Cancelled batch ${JSON.stringify(batch.name)}: ${describeCounts(batch)}.`
        : `Batch ${JSON.stringify(batch.name)} is ${batch.state} already; there was nothing to cancel.`,
    );
    if (batch.counts.running > 0) terminal.say("What still runs is asked to stop.");
    return EXIT.ok;
  });
};
