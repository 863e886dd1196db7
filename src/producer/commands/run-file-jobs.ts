import type { CommandContext } from "../../shared/command-context.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/db/database.ts";
import { selectFileJobs } from "../../shared/db/jobs/dependencies.ts";
import { Failure } from "../../shared/failure.ts";
import type { DigestInput } from "../../shared/job.ts";
import { totalSkipped } from "../../shared/skipped-files.ts";
import type { SkippedFiles } from "../../shared/skipped-files.ts";
import { modelAffinity } from "../../shared/model-affinity.ts";
import { insertDigests } from "../digests/insert-digests.ts";
import { chooseBatch } from "../enqueue/choose-batch.ts";
import type { ChosenBatch } from "../enqueue/choose-batch.ts";
import { enqueueLines } from "../enqueue/enqueue-lines.ts";
import type { EnqueueOptions } from "../enqueue/enqueue-lines.ts";
import { fileSizes } from "../enqueue/file-size.ts";
import { nativeLines } from "../enqueue/line-parser.ts";
import { printBatchResults } from "../print/print-batch-results.ts";
import { countOf, formatCount } from "../print/quantity.ts";
import { hintHold } from "../wait/hint-hold.ts";
import { hintWorker } from "../wait/hint-worker.ts";
import { waitForBatch } from "../wait/wait-for-batch.ts";
import { batchSettingsOf } from "./read-batch-settings.ts";

export type FileJobs = {
  /** What a batch without a name is called after. */
  readonly command: string;
  readonly name: string | undefined;
  readonly inputs: readonly { readonly path: string }[];
  /** Files that were left out of what was asked for. */
  readonly skipped: SkippedFiles;
  /** Digests of the folders and of all of it, too; null for none. */
  readonly digest: DigestInput["options"] | null;
};

/** Queues one job a file as a batch; with `--wait` prints what came of each. */
export async function runFileJobs(
  context: CommandContext,
  database: Database,
  jobs: FileJobs,
): Promise<number> {
  const { terminal, invocation, config } = context;
  const { inputs, name, command } = jobs;
  const batch = await chooseBatch(database, name, command, batchSettingsOf(invocation.options));
  const { outcome, problems, added, skipped } = await enqueueLines(
    database,
    batch,
    toJsonl(inputs),
    {
      badLines: "strict",
      onLines: () => undefined,
      parser: nativeLines((input) => modelAffinity(input, config.model)),
      sizeOf: fileSizes(config.roots.workroot),
      ...digestsOf(jobs, batch, context),
    },
  );
  if (outcome !== "queued") {
    const reason = problems.first()[0]?.reason ?? "no files";
    throw new Failure("INPUT_INVALID", `Nothing was queued: ${reason}`);
  }
  // A load that was cut off had the rows already, and is opened only now.
  if (added === 0 && batch.mode === "added") {
    sayNothingNew(context, jobs, batch);
    if (invocation.options["wait"] !== true) return printNothingNew(context, batch);
  } else {
    const known = skipped === 0 ? "" : `, ${formatCount(skipped)} were there already`;
    terminal.say(
      `${countOf(inputs.length, "file")} in batch ${JSON.stringify(batch.name)}${known}.`,
    );
  }
  return concludeBatch(context, database, { ...batch, skipped: jobs.skipped });
}

/** A name that is the same every night makes one batch, which holds each file once. */
function sayNothingNew(
  { terminal }: CommandContext,
  { inputs, digest }: FileJobs,
  { name }: ChosenBatch,
): void {
  const quoted = JSON.stringify(name);
  terminal.say(
    `Nothing new: the batch ${quoted} holds ${countOf(inputs.length, "file")} already. To make them again: ` +
      `nightdesk batch rerun ${quoted} --stale, or another --batch-name.`,
  );
  if (digest !== null) terminal.say(`For a digest of it: nightdesk digest ${quoted}`);
}

async function printNothingNew(
  { terminal, invocation }: CommandContext,
  { batchId, name }: ChosenBatch,
): Promise<number> {
  if (invocation.options["json"] === true) {
    await terminal.printJson({ ok: true, batch_id: batchId, batch: name, state: "unchanged" });
  } else await terminal.print(batchId);
  return EXIT.ok;
}

function digestsOf(
  { digest }: FileJobs,
  { batchId, name }: ChosenBatch,
  { config }: CommandContext,
): Pick<EnqueueOptions, "beforeOpening"> {
  if (digest === null) return {};
  const affinityOf: Parameters<typeof insertDigests>[2]["affinityOf"] = (input) =>
    modelAffinity(input, config.model);
  return {
    beforeOpening: async (db, { added }) => {
      // The same files enqueued again have their digests already.
      if (added === 0) return;
      const files = await selectFileJobs(db, batchId);
      await insertDigests(db, files, { batchId, title: name, options: digest, affinityOf });
    },
  };
}

type QueuedBatch = Pick<ChosenBatch, "batchId" | "name"> & { readonly skipped?: SkippedFiles };

/** A batch that is queued: says so, or waits for it and prints what came of it. */
export async function concludeBatch(
  context: CommandContext,
  database: Database,
  batch: QueuedBatch,
): Promise<number> {
  if (context.invocation.options["wait"] !== true)
    return printBatchQueued(context, database, batch);
  const code = await waitForBatch(context, database, batch.batchId);
  await printBatchResults(context, database, batch.batchId);
  return code;
}

const MOST_ID_CHARS = 512;

async function* toJsonl(inputs: FileJobs["inputs"]): AsyncGenerator<Uint8Array> {
  for (const input of inputs) {
    const id = input.path.length <= MOST_ID_CHARS ? { custom_id: input.path } : {};
    yield Buffer.from(`${JSON.stringify({ ...id, ...input })}\n`);
  }
}

async function printBatchQueued(
  context: CommandContext,
  database: Database,
  { batchId, name, skipped = {} }: QueuedBatch,
): Promise<number> {
  const { terminal, invocation } = context;
  if (invocation.options["json"] === true) {
    const left = totalSkipped(skipped);
    await terminal.printJson({
      ok: true,
      batch_id: batchId,
      batch: name,
      state: "queued",
      ...(left === 0 ? {} : { skipped_files: left, skipped_by_extension: skipped }),
    });
  } else await terminal.print(batchId);
  await hintHold(context, database, batchId);
  await hintWorker(context, database);
  return EXIT.ok;
}
