import { resolve } from "node:path";
import { openContext, withDatabase } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { Failure } from "../../shared/failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectResult } from "../../shared/views/results.ts";
import type { JobResult } from "../../shared/views/results.ts";
import type { WaitingJob } from "../../shared/store/jobs/waiting.ts";
import { selectDocumentFailures } from "../../shared/store/connection/health.ts";
import { otherSettings } from "../../shared/config/index-settings.ts";
import type { JobInput } from "../../shared/job/job.ts";
import type { Terminal } from "../../shared/terminal/terminal.ts";
import { AT_ONCE, queueAdHoc } from "../../shared/store/jobs/queue-ad-hoc.ts";
import {
  addUpVectors,
  failedDocuments,
  formatEmbedSummary,
  formatFailuresKnown,
  formatIndexSummary,
  formatOcrSummaries,
  formatSilentChanges,
  readIndexSummary,
} from "../print/index-summary.ts";
import type { IndexSummary, VectorTotals } from "../print/index-summary.ts";
import { printDelay, resultJson } from "../print/result.ts";
import { countOf } from "../../shared/views/quantity.ts";
import {
  formatSkipped,
  allowedExtensionsText,
  totalSkipped,
} from "../../shared/files/skipped-files.ts";
import { hintFiles } from "../watch/obstacles.ts";
import { withWorkedDatabase } from "../watch/ensure-worker.ts";
import { waitForIndex } from "../watch/wait-for-index.ts";
import { checkInput, printQueued } from "./ask.ts";
import { countOfOption, given, sourceOf, textOf } from "./options.ts";

export const indexSources: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { options } = invocation;
  if (options["ocr"] === true && context.config.index.ocr === null) {
    throw new Failure(
      "CONFIG_ERROR",
      "index.ocr does not say in which languages pictures are read. Set it, as in index: { ocr: { languages: [eng] } }, " +
        "and allow their endings in security.allowed_exts (docs/scans.md).",
    );
  }
  return runIndexCommand(context, {
    kind: "index",
    options: given({
      source: sourceOf(options, context.config),
      rebuild: options["rebuild"] === true ? true : undefined,
      verify: options["verify"] === true ? true : undefined,
      prune: options["prune"] === true ? true : undefined,
      prune_missing: options["pruneMissing"] === true ? true : undefined,
      allow_partial: options["allowPartial"] === true ? true : undefined,
      embed: options["embed"] === false ? false : undefined,
      ocr: options["ocr"] === true ? true : undefined,
    }),
  });
};

export const embed: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { options } = invocation;
  return runIndexCommand(context, {
    kind: "embed",
    chunks: given({
      rebuild: options["rebuild"] === true ? true : undefined,
      limit: countOfOption(options, "limit"),
      batch_size: countOfOption(options, "batchSize"),
      model: textOf(options, "model"),
      dry_run: options["dryRun"] === true ? true : undefined,
      prune: options["prune"] === false ? false : undefined,
    }),
  });
};

/** Waits for an index or embed job unless `--no-wait` was given. */
async function runIndexCommand(
  context: CommandContext,
  value: Readonly<Record<string, unknown>>,
): Promise<number> {
  const input = checkInput(value);
  return context.invocation.options["wait"] === false
    ? withDatabase(context, "create", async (database) =>
        printQueued(context, database, await queueAdHoc(database, input)),
      )
    : withWorkedDatabase(context, (database) => indexOrEmbed(context, database, input));
}

const SHOWN_FAILURES = 5;

/**
 * Queues an index or embed job, waits for it and for the jobs that it queues, and prints their results.
 * @returns the exit code: 3 if documents could not be indexed, unless the input allows that
 */
export async function indexOrEmbed(
  context: CommandContext,
  database: Database,
  input: JobInput,
): Promise<number> {
  const queued = await queueAdHoc(database, input, AT_ONCE);
  if (input.kind === "index") await hintFiles(context, database);
  const waited = await waitForIndex(context, database, queued);
  if (waited.kind === "delayed") return printDelay(context, waited.job, queued.batch);
  const results = await selectResults(database, waited.jobs);
  const unread = results.filter(({ kind, state }) => kind === "ocr" && state === "refused").length;
  const failed = results.reduce((sum, { summary }) => sum + failedDocuments(summary), unread);
  const vectors = await addUpVectors(database, results);
  if (context.terminal.isJson)
    await context.terminal.printJson({
      ...resultsJson(results, vectors),
      ...(input.kind === "index" ? { failed_documents: failed } : {}),
    });
  else await printResults(context, database, { input, results, vectors });
  printOtherSettings(context, results, input.kind);
  if (results.some(isFailure)) return EXIT.error;
  return failed === 0 || allowsPartial(input) ? EXIT.ok : EXIT.partial;
}

/** A refused OCR job counts as a document that could not be indexed. */
const isFailure = ({ kind, state }: JobResult): boolean =>
  state !== "succeeded" && (kind !== "ocr" || state !== "refused");

const allowsPartial = (input: JobInput): boolean =>
  input.kind === "index" && input.options?.allow_partial === true;

async function selectResults(
  database: Database,
  jobs: readonly WaitingJob[],
): Promise<readonly JobResult[]> {
  const results: JobResult[] = [];
  for (const { jobId } of jobs) {
    const result = await selectResult(database, jobId);
    if (result !== undefined) results.push(result);
  }
  return results;
}

/** The first job, with the jobs that it queued under `then`; if one job failed, only that failure. */
function resultsJson(
  results: readonly JobResult[],
  vectors: VectorTotals | undefined,
): Record<string, unknown> {
  const failed = results.find(isFailure);
  if (failed !== undefined) return resultJson(failed);
  const [first, ...others] = results.map(resultJson);
  return { ...first, then: others, ...(vectors === undefined ? {} : { vectors }) };
}

type Ended = {
  readonly input: JobInput;
  readonly results: readonly JobResult[];
  readonly vectors: VectorTotals | undefined;
};

async function printResults(
  context: CommandContext,
  database: Database,
  { input, results, vectors }: Ended,
): Promise<void> {
  const { terminal } = context;
  const failures = results.filter(({ state }) => state !== "succeeded");
  for (const line of new Set(failures.map(formatFailure))) terminal.say(line);
  for (const result of results) {
    if (result.state !== "succeeded" || result.kind !== "index") continue;
    await printIndexed(context, database, { input, summary: result.summary });
  }
  const ocr = results.filter(({ kind, state }) => kind === "ocr" && state === "succeeded");
  const pictures = formatOcrSummaries(ocr.map(({ summary }) => summary));
  if (pictures !== undefined) await terminal.print(pictures);
  if (vectors === undefined) return;
  await terminal.print(formatEmbedSummary(vectors));
  if (vectors.cut > 0) {
    terminal.say(
      `${countOf(vectors.cut, "chunk")} did not fit the window of ${vectors.model}: the vectors stand for what fits.`,
    );
  }
}

const formatFailure = ({ kind, state, error_code, error_message }: JobResult): string =>
  `${kind} ${state}: ${error_code ?? ""}: ${error_message ?? ""}`;

/** Warns that the worker, which reads the configuration when it starts, used other settings than the current ones. */
function printOtherSettings(
  { terminal, config }: CommandContext,
  results: readonly JobResult[],
  command: JobInput["kind"],
): void {
  const names = new Set(results.flatMap(({ summary }) => otherSettings(summary, config)));
  if (names.size === 0) return;
  terminal.say(
    `The worker that did this was started with other values of ${[...names].join(", ")} than the configuration has: ` +
      `start it again, and then run: nightdesk ${command}`,
  );
}

async function printIndexed(
  context: CommandContext,
  database: Database,
  { input, summary }: { readonly input: JobInput; readonly summary: unknown },
): Promise<void> {
  const { terminal } = context;
  await terminal.print(formatIndexSummary(summary));
  const read = readIndexSummary(summary);
  if (read === undefined) return;
  const { foreign_documents: foreign, unread_frontmatter: unread } = read;
  if (foreign > 0) {
    terminal.say(
      `${countOf(foreign, "document")} of sources that are not configured any more; nightdesk index --prune removes them.`,
    );
  }
  if (unread > 0) {
    terminal.say(
      `The frontmatter of ${countOf(unread, "document")} can't be read, and is searched as text. Why: ` +
        `nightdesk sql "select path, metadata_problem from documents where metadata_state = 'unknown'"`,
    );
  }
  const { incomplete_documents: incomplete, not_kept: unkept, pictured_files: pictured } = read;
  if (incomplete > 0) {
    terminal.say(
      `Of ${countOf(incomplete, "document")} something is not in the text, such as pictures. What: ` +
        `nightdesk sql "select path, left_out from documents where left_out <> '{}'"`,
    );
  }
  if (unkept !== undefined) {
    terminal.say(
      `${unkept.code}: of ${countOf(unkept.documents, "document")} the bytes are not kept, because of documents.quota. Which: ` +
        'nightdesk sql "select path from documents where not_kept_code is not null"',
    );
  }
  const readsPictures = input.kind === "index" && input.options?.ocr === true;
  if (pictured > 0 && !readsPictures) {
    terminal.say(
      `${countOf(pictured, "file")} with pictures of pages that were not read. To read them: nightdesk index --ocr`,
    );
  }
  const changes = formatSilentChanges(read);
  if (changes !== undefined) terminal.say(changes);
  if (failedDocuments(summary) > 0) {
    await printDocumentFailures(terminal, database);
    const known = formatFailuresKnown(summary);
    if (known !== undefined) terminal.say(known);
  }
  printLeftOut(context, input, read);
}

/** Prints the files left out for their extension; if there are no documents, where to put some. */
function printLeftOut(
  { terminal, config }: CommandContext,
  input: JobInput,
  { skipped_by_extension: skipped, documents_seen: seen }: IndexSummary,
): void {
  if (totalSkipped(skipped) > 0) terminal.say(`${formatSkipped(skipped)} (security.allowed_exts).`);
  if (seen > 0) return;
  const only = input.kind === "index" ? input.options?.source : undefined;
  const folders = config.index.sources
    .filter(({ name }) => only === undefined || name === only)
    .map(({ root }) => resolve(config.roots.workroot, root));
  terminal.say(
    `There is nothing to index. Put documents into ${folders.join(" or ")}, and run nightdesk index again. ${allowedExtensionsText(config)}.`,
  );
}

async function printDocumentFailures(terminal: Terminal, database: Database): Promise<void> {
  const { total, first } = await selectDocumentFailures(database, SHOWN_FAILURES);
  if (total === 0) return;
  terminal.say(`${countOf(total, "document")} could not be indexed:`);
  for (const { path, error_code: code, error_message: message } of first) {
    terminal.say(`  ${path}: ${code}: ${message}`);
  }
  if (total <= first.length) return;
  terminal.say(
    `All of them: nightdesk sql "select path, error_code, error_message from failures where origin = 'document'"`,
  );
}
