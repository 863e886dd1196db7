import { openContext, withDatabase } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler, Invocation } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { BATCH_FORMATS } from "../../shared/store/jobs/batches.ts";
import type { BatchFormat } from "../../shared/store/jobs/batches.ts";
import { findBatch } from "../../shared/views/batches.ts";
import { Failure } from "../../shared/failure.ts";
import { runInterruptible } from "../../shared/terminal/interruptible.ts";
import { modelAffinity } from "../../shared/job/kinds.ts";
import { checkName, selectBatch } from "../../shared/enqueue/select-batch.ts";
import type { SelectedBatch } from "../../shared/enqueue/select-batch.ts";
import { enqueueLines } from "../../shared/enqueue/enqueue-lines.ts";
import type { EnqueueResult } from "../../shared/enqueue/enqueue-lines.ts";
import { fileSizes, openInput } from "../../shared/enqueue/read-lines.ts";
import type { JobInput } from "../../shared/job/job.ts";
import { investigationProblem } from "../../shared/config/tool-presets.ts";
import { createLineParser } from "../../shared/enqueue/parse-line.ts";
import type { UnknownModel } from "../../shared/enqueue/parse-line.ts";
import { createModelNames } from "../../shared/enqueue/model-names.ts";
import type { ModelNames, NamesOptions } from "../../shared/enqueue/model-names.ts";
import { duplicateFinder, sayDuplicates } from "../selection/copies.ts";
import { daysOfLines } from "../selection/of-days.ts";
import { countOf, formatCount } from "../../shared/views/quantity.ts";
import { hintHold, hintSearchKey, hintWorker } from "../watch/obstacles.ts";
import { waitForBatch } from "../watch/wait-for-batch.ts";
import { printUnchanged } from "./file-jobs.ts";
import { argumentOf, batchSettingsOf, textOf } from "./options.ts";
import { quoteForShell } from "../../shared/terminal/styled-text.ts";

export const enqueue: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const requested = textOf(invocation.options, "batchName");
  const settings = batchSettingsOf(invocation.options);
  if (requested !== undefined) checkName(requested);
  const input = await openInput(argumentOf(invocation), process.stdin);
  try {
    return await withDatabase(context, "create", async (database) => {
      const onWait = (line: string) => {
        context.terminal.say(line);
      };
      const batch = await selectBatch(database, requested, input.name, { ...settings, onWait });
      const loaded = await loadLines(context, database, { batch, chunks: input.chunks });
      return reportLoad(context, database, batch, loaded);
    });
  } finally {
    await input.close();
  }
};

async function reportLoad(
  context: CommandContext,
  database: Database,
  batch: SelectedBatch,
  enqueued: Loaded,
): Promise<number> {
  if (enqueued.leftOut > 0) {
    context.terminal.say(`Not of these days: ${countOf(enqueued.leftOut, "line")} on files.`);
    if (enqueued.outcome === "empty") return printUnchanged(context);
  }
  if (enqueued.outcome !== "queued") return printRejected(context, batch, enqueued);
  await printEnqueued(context, batch, enqueued);
  await reportResumedLoad(context, database, batch, enqueued);
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

type Source = { readonly batch: SelectedBatch; readonly chunks: AsyncIterable<Uint8Array> };

async function loadLines(
  context: CommandContext,
  database: Database,
  { batch, chunks }: Source,
): Promise<Loaded> {
  const { terminal, invocation, config } = context;
  const models = createModelNames(config, namesOptionsOf(invocation));
  const presets = new Set<string | undefined>();
  const admit = (input: JobInput): JobInput | string => {
    if (input.kind !== "investigate") return input;
    presets.add(input.preset);
    return investigationProblem(input, config)?.message ?? input;
  };
  const parser = createLineParser({
    format: formatOf(invocation),
    models,
    affinityOf: (input) => modelAffinity(input, config.model),
    admit,
  });
  const goOn =
    `Nothing of batch ${JSON.stringify(batch.name)} that was read so far is dispatched. ` +
    `To go on, enqueue the same file again with --batch-name ${JSON.stringify(batch.name)}`;
  try {
    const enqueued = await runInterruptible(
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
          ...daysOfLines(context, database),
          ...duplicateFinder(context, database, batch),
        }),
    );
    await hintSearchKey(context, presets);
    return { ...enqueued, unknownModels: formatUnknown(parser.unknownModels(), models) };
  } catch (error) {
    terminal.say(goOn);
    throw error;
  }
}

/** `unknownModels` is the message about unknown model names, if there are any. */
type Loaded = EnqueueResult & { readonly unknownModels: string | undefined };

/** Prints the batch, and the outcome of the lines. */
async function printEnqueued(
  { terminal, invocation }: CommandContext,
  { batchId, name, mode }: SelectedBatch,
  { added, skipped, problems, duplicates }: EnqueueResult,
): Promise<void> {
  terminal.clearStatus();
  for (const line of problems.describe()) terminal.say(line);
  if (invocation.options["json"] === true) {
    await terminal.printJson({
      ok: true,
      batch_id: batchId,
      batch: name,
      added,
      skipped,
      rejected: problems.count,
      ...(duplicates === 0 ? {} : { duplicates }),
      problems: problems.first(),
    });
    return;
  }
  await terminal.print(batchId);
  const rejected = problems.count === 0 ? "" : `, ${countOf(problems.count, "bad line")} left out`;
  terminal.say(
    added === 0 && mode === "added"
      ? `Nothing new: all ${countOf(skipped, "job")} are in batch ${JSON.stringify(name)} already${rejected}.`
      : `Queued ${countOf(added, "job")} in batch ${JSON.stringify(name)}` +
          `${skipped === 0 ? "" : `, ${formatCount(skipped)} were there already`}${rejected}.`,
  );
  sayDuplicates(terminal, duplicates);
}

/** Reports the jobs that an interrupted load left: they are queued together with those of this file, even of another file. */
async function reportResumedLoad(
  { terminal }: CommandContext,
  database: Database,
  { batchId, name, created, mode }: SelectedBatch,
  { added, skipped }: EnqueueResult,
): Promise<void> {
  if (created || mode !== "loading") return;
  const total = (await findBatch(database, batchId))?.total ?? 0;
  const earlier = total - added - skipped;
  if (earlier <= 0) return;
  terminal.say(
    `${countOf(earlier, "job")} of a load that was cut off, and not in this file, ${earlier === 1 ? "is" : "are"} queued with it. ` +
      `If that was not meant: nightdesk batch cancel ${quoteForShell(name)}`,
  );
}

/** Reports why nothing was queued. @throws Failure INPUT_INVALID without --json */
async function printRejected(
  { terminal, invocation }: CommandContext,
  batch: SelectedBatch,
  { outcome, problems, unknownModels }: Loaded,
): Promise<number> {
  terminal.clearStatus();
  if (outcome === "empty") {
    throw new Failure(
      "INPUT_INVALID",
      "There is no job to queue: every line is blank. Expected one JSON object a line.",
    );
  }
  const kept = batch.mode === "loading" ? "nothing was queued" : "the batch keeps what it had";
  const remedy = unknownModels ?? "Correct the file, or use --no-strict to queue the good lines.";
  const message = `${countOf(problems.count, "bad line")}; ${kept}. ${remedy}`;
  if (invocation.options["json"] !== true) {
    for (const line of problems.describe()) terminal.say(line);
    throw new Failure("INPUT_INVALID", message);
  }
  await terminal.printJson({
    ok: false,
    error_code: "INPUT_INVALID",
    error_message: `${problems.describe()[0] ?? ""}; ${message}`,
    problems: problems.first(),
    rejected: problems.count,
  });
  return EXIT.error;
}

/** `--format` of `enqueue`; null: detected from the first line. */
function formatOf({ options }: Invocation): BatchFormat | null {
  const asked = textOf(options, "format");
  return BATCH_FORMATS.find((format) => format === asked) ?? null;
}

/** `--model` and `--model-names` of `enqueue`. */
const namesOptionsOf = ({ options }: Invocation): NamesOptions => ({
  override: textOf(options, "model"),
  names: textOf(options, "modelNames") === "any" ? "any" : "known",
});

const MOST_NAMED = 10;

/** The message about a file's model names that are not known here; undefined if there are none. */
function formatUnknown(
  unknown: readonly UnknownModel[],
  { known }: ModelNames,
): string | undefined {
  if (unknown.length === 0) return undefined;
  const named = unknown
    .slice(0, MOST_NAMED)
    .map(({ name, line }) => `${JSON.stringify(name)} (line ${line})`);
  const more = unknown.length > MOST_NAMED ? ", …" : "";
  return (
    `The file names models that are not known here: ${named.join(", ")}${more}. ` +
    `Known are ${known.map((name) => JSON.stringify(name)).join(", ")}. Map a name under model.aliases, ` +
    "give --model NAME for all chats, or --model-names any to leave the names to the model host."
  );
}
