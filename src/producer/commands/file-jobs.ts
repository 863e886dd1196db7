import { resolve } from "node:path";
import { openContext, withDatabase } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler, Invocation } from "../../shared/commands/command.ts";
import { EXIT, printRefusal } from "../../shared/commands/report-failure.ts";
import { readSmallFile } from "../../shared/config/read-small-file.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectFileJobs } from "../../shared/store/jobs/dependencies.ts";
import { Failure } from "../../shared/failure.ts";
import type { DigestInput } from "../../shared/job/job.ts";
import { isRecord, parseJson } from "../../shared/schema/json-value.ts";
import { modelAffinity } from "../../shared/job/kinds.ts";
import { MOST_SCHEMA_CHARS } from "../../shared/schema/check-schema.ts";
import { totalSkipped } from "../../shared/files/skipped-files.ts";
import type { SkippedFiles } from "../../shared/files/skipped-files.ts";
import { checkName, selectBatch } from "../../shared/enqueue/select-batch.ts";
import type { SelectedBatch } from "../../shared/enqueue/select-batch.ts";
import { enqueueLines } from "../../shared/enqueue/enqueue-lines.ts";
import type { EnqueueOptions } from "../../shared/enqueue/enqueue-lines.ts";
import { fileSizes } from "../../shared/enqueue/read-lines.ts";
import { nativeLines } from "../../shared/enqueue/parse-line.ts";
import { printBatchResults } from "../print/result.ts";
import { countOf, formatCount } from "../../shared/views/quantity.ts";
import { duplicateFinder, findCopies, sayDuplicates, sayUncompared } from "../selection/copies.ts";
import type { FoundCopies } from "../selection/copies.ts";
import { insertDigests } from "../selection/digests.ts";
import { readLabelExamples } from "../selection/label-examples.ts";
import { onlyOfDays } from "../selection/of-days.ts";
import { selectChanged, selectPaths } from "../selection/paths.ts";
import { hintHold, hintWorker } from "../watch/obstacles.ts";
import { waitForBatch } from "../watch/wait-for-batch.ts";
import { checkInput, runSingleJob } from "./ask.ts";
import {
  batchSettingsOf,
  routeOf,
  given,
  textOf,
  verificationOf,
  waitsForAnswer,
} from "./options.ts";
import { printFilePreview } from "./preview-files.ts";
import { quoteForShell } from "../../shared/terminal/styled-text.ts";

export const summarize: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { options } = invocation;
  const jobOptions = summaryOptions(options);
  return runOnFiles(context, {
    command: "summarize",
    inputOf: (path) => ({ kind: "summarize", path, options: jobOptions }),
    digest: options["digest"] === true ? routingOf(options) : null,
  });
};

type FileJobRequest = Pick<FileJobs, "command" | "digest"> & {
  readonly inputOf: (path: string) => FileInput & Readonly<Record<string, unknown>>;
};

/** Queues one file as a single job; several files, a glob, a digest or a batch name make a batch. */
async function runOnFiles(
  context: CommandContext,
  { command, inputOf, digest }: FileJobRequest,
): Promise<number> {
  const { invocation } = context;
  const selected = await selectPaths(context);
  if (selected.kind === "refused") return printRefusal(selected, invocation);
  const { paths, isSelection, skipped } = selected;
  const name = textOf(invocation.options, "batchName");
  const all = paths.map(inputOf);
  // A problem with the schema or the labels is reported once, not for each line of a batch.
  if (command === "extract" && all[0] !== undefined) checkInput(all[0]);
  const ofDays = await onlyOfDays(context, all);
  const inputs = await onlyChanged(context, ofDays);
  const ofOtherDays = all.length - ofDays.length;
  if (invocation.options["dryRun"] === true)
    return printPreview(context, { inputs, skipped, ofOtherDays });
  if (inputs.length === 0) return printUnchanged(context);
  const [only] = inputs;
  const isOne = inputs.length === 1 && !isSelection && name === undefined && digest === null;
  if (only !== undefined && isOne) return runSingleJob(context, only);
  if (name !== undefined) checkName(name);
  return withDatabase(context, "create", (database) =>
    runFileJobs(context, database, { command, name, inputs, skipped, digest }),
  );
}

type Options = CommandContext["invocation"]["options"];

type FileInput = { readonly path: string };

type Preview = Pick<FileJobs, "inputs" | "skipped"> & { readonly ofOtherDays: number };

/** Prints the output of `--dry-run`; with `--dedupe`, copies are listed separately. */
async function printPreview(
  context: CommandContext,
  { inputs, skipped, ofOtherDays }: Preview,
): Promise<number> {
  const { copies, uncompared } = await copiesAmong(context, inputs);
  sayUncompared(context.terminal, uncompared);
  const copied = new Set(copies.map(({ path }) => path));
  const paths = inputs.map(({ path }) => path).filter((path) => !copied.has(path));
  return printFilePreview(context, { paths, copies, skipped, ofOtherDays });
}

const NO_COPIES: FoundCopies = { copies: [], uncompared: 0 };

const copiesAmong = async (
  context: CommandContext,
  inputs: readonly FileInput[],
): Promise<FoundCopies> =>
  context.invocation.options["dedupe"] === true
    ? withDatabase(context, "create", (database) =>
        findCopies(database, context.config.roots.workroot, inputs),
      )
    : NO_COPIES;

const routingOf = (options: Options) =>
  given({ route: routeOf(options), model: textOf(options, "model") });

const summaryOptions = (options: Options) =>
  given({
    ...routingOf(options),
    ...verificationOf(options),
    length: textOf(options, "length"),
    bullets: options["bullets"] === true ? true : undefined,
  });

export const extract: CommandHandler = async (invocation) => {
  const fields = await fieldsOf(invocation);
  const context = await openContext(invocation);
  const wanted = { ...fields, ...(await labellingOf(context)) };
  return runOnFiles(context, {
    command: "extract",
    inputOf: (path) => ({ kind: "extract", path, ...wanted }),
    digest: null,
  });
};

/** The fields to extract, in the form of a batch line. */
async function fieldsOf(invocation: Invocation): Promise<Readonly<Record<string, unknown>>> {
  const { options, cwd } = invocation;
  const [preset, file] = ["preset", "schema"].map((name) => textOf(options, name));
  if ((preset === undefined) === (file === undefined)) {
    throw new Failure(
      "USAGE_ERROR",
      "Say what to extract: either --preset classify|actions|people|file-letters or --schema <file>, and not both.",
    );
  }
  const settings = given({
    route: routeOf(options),
    model: textOf(options, "model"),
    ...verificationOf(options),
  });
  return {
    ...given({
      preset: preset === LETTERS ? undefined : preset,
      schema:
        preset === LETTERS
          ? await letterSchema(invocation)
          : file === undefined
            ? undefined
            : await readSchema(file, cwd),
    }),
    ...(Object.keys(settings).length === 0 ? {} : { options: settings }),
  };
}

/** The labels to choose from, and example texts; without `--labels`, the labels of the examples. */
async function labellingOf(context: CommandContext) {
  const { options } = context.invocation;
  const file = textOf(options, "examples");
  // For letters the labels are tags, which the schema lists.
  if (options["preset"] === LETTERS && file === undefined) return {};
  const labels = namedLabels(options);
  if (file === undefined) return given({ labels });
  const examples = await readLabelExamples(context, file, labels);
  return { labels: labels ?? [...new Set(examples.map(({ label }) => label))], examples };
}

const namedLabels = (options: Options): readonly string[] | undefined =>
  textOf(options, "labels")
    ?.split(",")
    .map((label) => label.trim())
    .filter((label) => label !== "");

/** A preset that is a schema: its jobs are stored like those with a user's schema. */
const LETTERS = "file-letters";

/** The schema for filing a letter, with the tags to choose from. */
async function letterSchema({ options, packageRoot }: Invocation) {
  const schema = await readSchema("examples/schemas/letter.json", packageRoot);
  const tags = [...new Set(namedLabels(options))];
  const { properties, required } = schema;
  if (tags.length === 0 || !isRecord(properties) || !Array.isArray(required)) return schema;
  const description = "those of the tags that words of the letter say it is about";
  const items = { type: "string", enum: tags };
  const tagged = { type: "array", description, items, maxItems: tags.length };
  return {
    ...schema,
    properties: { ...properties, tags: tagged },
    required: [...(required as readonly unknown[]), "tags"],
  };
}

const MOST_SCHEMA_BYTES = 4 * MOST_SCHEMA_CHARS;

/** Reads the operator's own file, which may be outside of the work root. @throws Failure INPUT_INVALID */
async function readSchema(file: string, cwd: string): Promise<Readonly<Record<string, unknown>>> {
  const read = await readSmallFile(resolve(cwd, file), MOST_SCHEMA_BYTES);
  const schema = read.kind === "text" ? parseJson(read.text) : undefined;
  if (isRecord(schema)) return schema;
  const why =
    read.kind === "missing"
      ? "is not there"
      : read.kind === "unreadable"
        ? read.reason
        : "holds no JSON object";
  throw new Failure(
    "INPUT_INVALID",
    `The schema ${JSON.stringify(file)} ${why}. Name a file with a JSON schema, such as examples/schemas/incident.json.`,
  );
}

type FileJobs = {
  /** The default name of a batch. */
  readonly command: "summarize" | "extract";
  readonly name: string | undefined;
  readonly inputs: readonly FileInput[];
  /** Files of the selection that were left out. */
  readonly skipped: SkippedFiles;
  /** Options of digests of each folder and of the whole; null for no digests. */
  readonly digest: DigestInput["options"] | null;
};

/** Queues one job per file as a batch; with `--wait` prints each result. */
async function runFileJobs(
  context: CommandContext,
  database: Database,
  jobs: FileJobs,
): Promise<number> {
  const { terminal, invocation, config } = context;
  const { inputs, name, command } = jobs;
  const settings = batchSettingsOf(invocation.options);
  const onWait = (line: string) => {
    terminal.say(line);
  };
  const batch = await selectBatch(database, name, command, { ...settings, onWait });
  const { outcome, problems, added, skipped, duplicates } = await enqueueLines(
    database,
    batch,
    toJsonl(inputs),
    {
      badLines: "strict",
      onLines: () => undefined,
      parser: nativeLines((input) => modelAffinity(input, config.model)),
      sizeOf: fileSizes(config.roots.workroot),
      ...duplicateFinder(context, database, batch),
      ...digestsOf(jobs, batch, context),
    },
  );
  if (outcome !== "queued") {
    const reason = problems.first()[0]?.reason ?? "no files";
    throw new Failure("INPUT_INVALID", `Nothing was queued: ${reason}`);
  }
  // After an interrupted load the rows exist already, and the batch is opened only now.
  if (added === 0 && batch.mode === "added") {
    explainNothingNew(context, jobs, batch);
    if (!waitsForAnswer(invocation, context.config)) return printNothingNew(context, batch);
  } else {
    const known = skipped === 0 ? "" : `, ${formatCount(skipped)} were there already`;
    terminal.say(
      `${countOf(inputs.length, "file")} in batch ${JSON.stringify(batch.name)}${known}.`,
    );
  }
  sayDuplicates(terminal, duplicates);
  return printOrWait(context, database, { ...batch, duplicates, skipped: jobs.skipped });
}

/** Explains that a batch name used every night means the same batch, which holds each file once. */
function explainNothingNew(
  { terminal }: CommandContext,
  { inputs, digest }: FileJobs,
  { name }: SelectedBatch,
): void {
  const quoted = quoteForShell(name);
  terminal.say(
    `Nothing new: the batch ${quoted} holds ${countOf(inputs.length, "file")} already. To make them again: ` +
      `nightdesk batch rerun ${quoted} --stale, or another --batch-name.`,
  );
  if (digest !== null) terminal.say(`For a digest of it: nightdesk digest ${quoted}`);
}

async function printNothingNew(
  { terminal }: CommandContext,
  { batchId, name }: SelectedBatch,
): Promise<number> {
  if (terminal.isJson) {
    await terminal.printJson({ ok: true, batch_id: batchId, batch: name, state: "unchanged" });
  } else await terminal.print(batchId);
  return EXIT.ok;
}

function digestsOf(
  { digest }: FileJobs,
  { batchId, name }: SelectedBatch,
  { config }: CommandContext,
): Pick<EnqueueOptions, "beforeOpening"> {
  if (digest === null) return {};
  const affinityOf: Parameters<typeof insertDigests>[2]["affinityOf"] = (input) =>
    modelAffinity(input, config.model);
  return {
    beforeOpening: async (db, { added }) => {
      // If all files were there already, so are their digests.
      if (added === 0) return;
      const files = await selectFileJobs(db, batchId);
      await insertDigests(db, files, { batchId, title: name, options: digest, affinityOf });
    },
  };
}

type QueuedBatch = Pick<SelectedBatch, "batchId" | "name"> & {
  readonly skipped?: SkippedFiles;
  readonly duplicates?: number;
};

/** Reports a queued batch, or waits for it and prints its results. */
export async function printOrWait(
  context: CommandContext,
  database: Database,
  batch: QueuedBatch,
): Promise<number> {
  if (!waitsForAnswer(context.invocation, context.config))
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
  { batchId, name, skipped = {}, duplicates = 0 }: QueuedBatch,
): Promise<number> {
  const { terminal } = context;
  if (terminal.isJson) {
    const left = totalSkipped(skipped);
    await terminal.printJson({
      ok: true,
      batch_id: batchId,
      batch: name,
      state: "queued",
      ...(left === 0 ? {} : { skipped_files: left, skipped_by_extension: skipped }),
      ...(duplicates === 0 ? {} : { duplicates }),
    });
  } else await terminal.print(batchId);
  await hintHold(context, database, batchId);
  await hintWorker(context, database);
  return EXIT.ok;
}

/**
 * With --changed, the inputs whose files differ from those of their newest result; without it, all inputs. With --dedupe,
 * a copy counts as changed if its original is, because the original has the result of both.
 */
async function onlyChanged<Input extends FileInput>(
  context: CommandContext,
  inputs: readonly Input[],
): Promise<readonly Input[]> {
  const { terminal, invocation, config } = context;
  if (invocation.options["changed"] !== true) return inputs;
  const { copies } = await copiesAmong(context, inputs);
  const originalOf = new Map(copies.map(({ path, of }) => [path, of]));
  const originals = inputs.filter(({ path }) => !originalOf.has(path));
  const { changed: taken, unindexed } = await withDatabase(context, "create", (database) =>
    selectChanged(database, config.roots.workroot, originals),
  );
  const paths = new Set(taken.map(({ path }) => path));
  const changed = inputs.filter(({ path }) => paths.has(originalOf.get(path) ?? path));
  terminal.say(`${formatCount(changed.length)} of ${countOf(inputs.length, "file")} changed.`);
  if (unindexed > 0) {
    terminal.say(
      `Counted as changed because the index does not know what they were: ${countOf(unindexed, "file")}. ` +
        "To have them compared from then on: nightdesk index",
    );
  }
  return changed;
}

/** Reports that there is nothing to queue, which is no failure: no file has changed, or none has a date in the range. */
export async function printUnchanged({ terminal }: CommandContext): Promise<number> {
  if (terminal.isJson) {
    await terminal.printJson({ ok: true, batch_id: null, batch: null, state: "unchanged" });
  }
  return EXIT.ok;
}
