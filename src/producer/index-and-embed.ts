import type { CommandContext } from "../shared/command-context.ts";
import { EXIT } from "../shared/commands/report-failure.ts";
import type { Database } from "../shared/db/database.ts";
import { selectResult } from "../shared/db/jobs/read-results.ts";
import type { JobResult } from "../shared/db/jobs/read-results.ts";
import type { WaitingJob } from "../shared/db/jobs/read-waiting.ts";
import { selectDocumentFailures } from "../shared/db/read-document-failures.ts";
import type { JobInput } from "../shared/job.ts";
import type { Terminal } from "../shared/terminal.ts";
import {
  describeEmbedSummary,
  describeIndexSummary,
  failedDocuments,
  foreignDocuments,
} from "./print/describe-summary.ts";
import { printDelay } from "./print/print-result.ts";
import { failureJson, successJson } from "./print/result-json.ts";
import { countOf } from "./print/quantity.ts";
import { queueAdHoc } from "./queue-ad-hoc.ts";
import { waitForJobs } from "./wait/wait-for-jobs.ts";

const SHOWN_FAILURES = 5;

/**
 * Queues an index or embed job, waits for it and for the embed job that an index job queues, and prints what they
 * did. Documents that could not be indexed are rows, and no error of the command.
 */
export async function indexOrEmbed(
  context: CommandContext,
  database: Database,
  input: JobInput,
): Promise<number> {
  const queued = await queueAdHoc(database, input);
  const waited = await waitForJobs(context, database, queued);
  if (waited.kind === "delayed") return printDelay(context, waited.job, queued.batch);
  const results = await selectResults(database, waited.jobs);
  const hasFailed = results.some(({ state }) => state !== "succeeded");
  if (context.invocation.options["json"] === true)
    await context.terminal.printJson(resultsJson(results));
  else for (const result of results) await sayResult(context.terminal, database, result);
  return hasFailed ? EXIT.error : EXIT.ok;
}

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

/** The first job, with those that it queued under `then`; a failure of any is the failure of all. */
function resultsJson(results: readonly JobResult[]): Record<string, unknown> {
  const failed = results.find(({ state }) => state !== "succeeded");
  if (failed !== undefined) return failureJson(failed);
  const [first, ...others] = results.map(successJson);
  return { ...first, then: others };
}

async function sayResult(terminal: Terminal, database: Database, result: JobResult): Promise<void> {
  if (result.state !== "succeeded") {
    terminal.say(
      `${result.kind} ${result.state}: ${result.error_code ?? ""}: ${result.error_message ?? ""}`,
    );
    return;
  }
  const describe = result.kind === "index" ? describeIndexSummary : describeEmbedSummary;
  await terminal.print(describe(result.summary));
  const foreign = foreignDocuments(result.summary);
  if (foreign > 0) {
    terminal.say(
      `${countOf(foreign, "document")} of sources that are not configured any more; nightdesk index --rebuild removes them.`,
    );
  }
  if (failedDocuments(result.summary) > 0) await sayDocumentFailures(terminal, database);
}

async function sayDocumentFailures(terminal: Terminal, database: Database): Promise<void> {
  const { total, first } = await selectDocumentFailures(database, SHOWN_FAILURES);
  if (total === 0) return;
  terminal.say(`${countOf(total, "document")} could not be indexed:`);
  for (const { path, error_code: code, error_message: message } of first) {
    // A name may hold a line feed, and stays on its line all the same.
    terminal.say(`  ${path}: ${code}: ${message}`.replaceAll("\n", "␊"));
  }
  if (total <= first.length) return;
  terminal.say(
    `All of them: nightdesk sql "select path, error_code, error_message from failures where origin = 'document'"`,
  );
}
