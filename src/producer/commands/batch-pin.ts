import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { pinBatch } from "../../shared/db/jobs/retention.ts";
import type { Pin } from "../../shared/db/jobs/retention.ts";
import { findNamedBatch } from "../find-named-batch.ts";
import { argumentOf } from "./read-options.ts";

/** Keeps a batch from being deleted for its age. */
export const batchPin: CommandHandler = (invocation) =>
  setPin(invocation, invocation.options["untilExported"] === true ? "until_exported" : "always");

export const batchUnpin: CommandHandler = (invocation) => setPin(invocation, null);

async function setPin(invocation: Parameters<CommandHandler>[0], pin: Pin | null): Promise<number> {
  const context = await openContext(invocation);
  const { terminal } = context;
  return withDatabase(context, "must-exist", async (database) => {
    const { batchId, name } = await findNamedBatch(database, argumentOf(invocation));
    await pinBatch(database, batchId, pin);
    if (invocation.options["json"] === true) {
      await terminal.printJson({ ok: true, batch_id: batchId, batch: name, pinned: pin });
    }
    terminal.say(`Batch ${JSON.stringify(name)} ${WORDS[pin ?? "none"]}.`);
    return EXIT.ok;
  });
}

const WORDS = {
  always: "is kept, whatever its age, until it is unpinned",
  until_exported: "is kept, whatever its age, until it is exported",
  none: "is deleted when it is older than runs.keep_days",
} as const;
