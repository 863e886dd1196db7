import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { findNamedBatch } from "../find-named-batch.ts";
import { batchJson } from "../print/describe-batch.ts";
import { waitForBatch } from "../wait/wait-for-batch.ts";
import { argumentOf } from "./read-options.ts";

export const batchWait: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { options } = invocation;
  return withDatabase(context, "must-exist", async (database) => {
    const { batchId } = await findNamedBatch(database, argumentOf(invocation));
    const whenHeld = options["hold"] === false ? "return" : "wait";
    const code = await waitForBatch(context, database, batchId, { whenHeld });
    if (options["json"] === true) {
      await context.terminal.printJson(batchJson(await findNamedBatch(database, batchId)));
    }
    return code;
  });
};
