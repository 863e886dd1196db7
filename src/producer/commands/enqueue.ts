import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/db/database.ts";
import { modelAffinity } from "../../shared/model-affinity.ts";
import { checkName, chooseBatch } from "../enqueue/choose-batch.ts";
import type { ChosenBatch } from "../enqueue/choose-batch.ts";
import { enqueueLines } from "../enqueue/enqueue-lines.ts";
import { createLineParser } from "../enqueue/line-parser.ts";
import { fileSizes } from "../enqueue/file-size.ts";
import { openInput } from "../enqueue/open-input.ts";
import { describeUnknown } from "../enqueue/openai/describe-unknown.ts";
import { createModelNames } from "../enqueue/openai/model-names.ts";
import { formatOf, namesOptionsOf } from "../enqueue/read-format-options.ts";
import { printEnqueued, printRejected, sayEarlierLoad } from "../enqueue/print-enqueued.ts";
import type { Loaded } from "../enqueue/print-enqueued.ts";
import { formatCount } from "../print/quantity.ts";
import { hintHold } from "../wait/hint-hold.ts";
import { hintWorker } from "../wait/hint-worker.ts";
import { interruptible } from "../wait/interrupt.ts";
import { waitForBatch } from "../wait/wait-for-batch.ts";
import { batchSettingsOf } from "./read-batch-settings.ts";
import { argumentOf, textOf } from "./read-options.ts";

export const enqueue: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const requested = textOf(invocation.options, "batchName");
  const settings = batchSettingsOf(invocation.options);
  if (requested !== undefined) checkName(requested);
  const input = await openInput(argumentOf(invocation), process.stdin);
  try {
    return await withDatabase(context, "create", async (database) => {
      const batch = await chooseBatch(database, requested, input.name, settings);
      return finish(
        context,
        database,
        batch,
        await load(context, database, { batch, chunks: input.chunks }),
      );
    });
  } finally {
    await input.close();
  }
};

async function finish(
  context: CommandContext,
  database: Database,
  batch: ChosenBatch,
  enqueued: Loaded,
): Promise<number> {
  if (enqueued.outcome !== "queued") return printRejected(context, batch, enqueued);
  await printEnqueued(context, batch, enqueued);
  await sayEarlierLoad(context, database, batch, enqueued);
  const code = enqueued.problems.count === 0 ? EXIT.ok : EXIT.partial;
  if (context.invocation.options["wait"] === true) {
    return Math.max(code, await waitForBatch(context, database, batch.batchId));
  }
  if (enqueued.added > 0 || batch.mode === "loading") {
    await hintHold(context, database, batch.batchId);
    await hintWorker(context, database);
  }
  return code;
}

type Source = { readonly batch: ChosenBatch; readonly chunks: AsyncIterable<Uint8Array> };

async function load(
  { terminal, invocation, config }: CommandContext,
  database: Database,
  { batch, chunks }: Source,
): Promise<Loaded> {
  const models = createModelNames(config, namesOptionsOf(invocation));
  const parser = createLineParser({
    format: formatOf(invocation),
    models,
    affinityOf: (input) => modelAffinity(input, config.model),
  });
  const goOn =
    `Nothing of batch ${JSON.stringify(batch.name)} that was read so far is dispatched. ` +
    `To go on, enqueue the same file again with --batch-name ${JSON.stringify(batch.name)}`;
  try {
    const enqueued = await interruptible(
      terminal,
      () => `Interrupted. ${goOn}`,
      () =>
        enqueueLines(database, batch, chunks, {
          badLines: invocation.options["strict"] === false ? "skip" : "strict",
          onLines: (last) => {
            terminal.status(`${formatCount(last)} lines read`);
          },
          parser,
          sizeOf: fileSizes(config.roots.workroot),
        }),
    );
    return { ...enqueued, unknownModels: describeUnknown(parser.unknownModels(), models) };
  } catch (error) {
    terminal.say(goOn);
    throw error;
  }
}
