import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/db/database.ts";
import { modelAffinity } from "../../shared/model-affinity.ts";
import { Failure } from "../../shared/failure.ts";
import { checkName, chooseBatch } from "../enqueue/choose-batch.ts";
import type { ChosenBatch } from "../enqueue/choose-batch.ts";
import { enqueueLines } from "../enqueue/enqueue-lines.ts";
import { expandPaths } from "../paths/expand-paths.ts";
import { printBatchResults } from "../print/print-batch-results.ts";
import { countOf } from "../print/quantity.ts";
import { hintWorker } from "../wait/hint-worker.ts";
import { waitForBatch } from "../wait/wait-for-batch.ts";
import { routeOf, said, textOf } from "./read-options.ts";
import { runSingleJob } from "./run-single-job.ts";

/** One file is a job of its own; several, a glob or a name for it make a batch. */
export const summarize: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { paths, hasGlob } = await expandPaths(invocation.args, context.config, invocation.cwd);
  const name = textOf(invocation.options, "batchName");
  const inputs = paths.map((path) => ({
    kind: "summarize",
    path,
    options: summaryOptions(invocation.options),
  }));
  const [only] = inputs;
  if (only !== undefined && inputs.length === 1 && !hasGlob && name === undefined) {
    return runSingleJob(context, only);
  }
  if (name !== undefined) checkName(name);
  return withDatabase(context, "create", (database) =>
    summarizeMany(context, database, { name, inputs }),
  );
};

const summaryOptions = (options: CommandContext["invocation"]["options"]) =>
  said({
    route: routeOf(options),
    model: textOf(options, "model"),
    length: textOf(options, "length"),
    bullets: options["bullets"] === true ? true : undefined,
  });

type Wanted = {
  readonly name: string | undefined;
  readonly inputs: readonly { readonly path: string }[];
};

async function summarizeMany(
  context: CommandContext,
  database: Database,
  { name, inputs }: Wanted,
): Promise<number> {
  const { terminal, invocation, config } = context;
  const batch = await chooseBatch(database, name, "summarize");
  const { outcome, problems } = await enqueueLines(database, batch, toJsonl(inputs), {
    badLines: "strict",
    onLines: () => undefined,
    affinityOf: (input) => modelAffinity(input, config.model),
  });
  if (outcome !== "queued") {
    const reason = problems.first()[0]?.reason ?? "no files";
    throw new Failure("INPUT_INVALID", `Nothing was queued: ${reason}`);
  }
  terminal.say(`${countOf(inputs.length, "file")} in batch ${JSON.stringify(batch.name)}.`);
  if (invocation.options["wait"] !== true) return printBatchQueued(context, database, batch);
  const code = await waitForBatch(context, database, batch.batchId);
  await printBatchResults(context, database, batch.batchId);
  return code;
}

const MOST_ID_CHARS = 512;

async function* toJsonl(inputs: Wanted["inputs"]): AsyncGenerator<Uint8Array> {
  for (const input of inputs) {
    const id = input.path.length <= MOST_ID_CHARS ? { custom_id: input.path } : {};
    yield Buffer.from(`${JSON.stringify({ ...id, ...input })}\n`);
  }
}

async function printBatchQueued(
  context: CommandContext,
  database: Database,
  { batchId, name }: ChosenBatch,
): Promise<number> {
  const { terminal, invocation } = context;
  if (invocation.options["json"] === true) {
    await terminal.printJson({ ok: true, batch_id: batchId, batch: name, state: "queued" });
  } else await terminal.print(batchId);
  await hintWorker(context, database);
  return EXIT.ok;
}
