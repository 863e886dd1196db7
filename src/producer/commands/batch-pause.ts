import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { pauseBatch } from "../../shared/db/jobs/batch-settings.ts";
import { keepHolds } from "../../shared/db/jobs/holds.ts";
import { findNamedBatch } from "../find-named-batch.ts";
import { batchJson, describeCounts } from "../print/describe-batch.ts";
import { countOf } from "../print/quantity.ts";
import { argumentOf } from "./read-options.ts";

/** Takes no further job of a batch until it is resumed; what runs may finish. */
export const batchPause: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { terminal } = context;
  return withDatabase(context, "must-exist", async (database) => {
    const { batchId, name } = await findNamedBatch(database, argumentOf(invocation));
    const outcome = await pauseBatch(database, batchId);
    await keepHolds(database);
    const batch = await findNamedBatch(database, batchId);
    if (invocation.options["json"] === true) await terminal.printJson(batchJson(batch));
    const quoted = JSON.stringify(name);
    if (outcome === "ended") {
      terminal.say(`Batch ${quoted} is ${batch.state} already; there is nothing to pause.`);
      return EXIT.ok;
    }
    const when = outcome === "paused" ? "is paused" : "was paused already";
    terminal.say(`Batch ${quoted} ${when}: ${describeCounts(batch)}.`);
    if (batch.counts.running > 0) {
      terminal.say(`${countOf(batch.counts.running, "job")} that run may finish.`);
    }
    terminal.say(`To go on: nightdesk batch resume ${quoted}`);
    return EXIT.ok;
  });
};
