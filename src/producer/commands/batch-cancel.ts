import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { cancelBatch } from "../../shared/db/jobs/close-batches.ts";
import type { BatchProgress } from "../../shared/db/jobs/read-batches.ts";
import { findNamedBatch } from "../find-named-batch.ts";
import { batchJson, describeCounts } from "../print/describe-batch.ts";
import { formatCount } from "../print/quantity.ts";
import { argumentOf } from "./read-options.ts";

export const batchCancel: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { terminal } = context;
  return withDatabase(context, "must-exist", async (database) => {
    const before = await findNamedBatch(database, argumentOf(invocation));
    await cancelBatch(database, before.batchId, (ended) => {
      terminal.status(`${formatCount(ended)} of ${formatCount(waiting(before))} jobs ended`);
    });
    terminal.clearStatus();
    const batch = await findNamedBatch(database, before.batchId);
    if (invocation.options["json"] === true) await terminal.printJson(batchJson(batch));
    terminal.say(
      before.finishedAt === null || waiting(before) > 0
        ? `Cancelled batch ${JSON.stringify(batch.name)}: ${describeCounts(batch)}.`
        : `Batch ${JSON.stringify(batch.name)} is ${batch.state} already; there was nothing to cancel.`,
    );
    if (batch.counts.running > 0) terminal.say("What still runs is asked to stop.");
    return EXIT.ok;
  });
};

/** Some are left in a batch that is cancelled, too, when the command that did it has died. */
const waiting = ({ counts }: BatchProgress): number => counts.queued + counts.parked;
