import { hash } from "node:crypto";
import { hostname } from "node:os";
import { relative } from "node:path";
import { openContext, withDatabase } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler, Invocation } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { configFingerprint } from "../../shared/config/config-fingerprint.ts";
import { Failure } from "../../shared/failure.ts";
import { modelAffinity } from "../../shared/job/kinds.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { findOrCreateBatch, openBatch } from "../../shared/store/jobs/batches.ts";
import { selectIndexedAt } from "../../shared/store/jobs/evidence.ts";
import { insertJobs } from "../../shared/store/jobs/insert-jobs.ts";
import { selectConfiguredWorkers } from "../../shared/store/jobs/workers.ts";
import type { Terminal } from "../../shared/terminal/terminal.ts";
import { findBatch } from "../../shared/views/batches.ts";
import type { BatchProgress } from "../../shared/views/batches.ts";
import { readResults } from "../../shared/views/results.ts";
import type { JobResult } from "../../shared/views/results.ts";
import { countOf, formatMoment } from "../../shared/views/quantity.ts";
import { hashJson } from "../../shared/schema/json-value.ts";
import { AT_ONCE } from "../../shared/store/jobs/queue-ad-hoc.ts";
import {
  comparisonTable,
  describeDifference,
  differencesOf,
  evaluationJson,
  evaluationTable,
} from "../evaluate/evaluation-page.ts";
import type { Evaluated } from "../evaluate/evaluation-page.ts";
import { readQuestions } from "../evaluate/questions.ts";
import type { QuestionFile } from "../evaluate/questions.ts";
import { isBelowPercent, judgeAnswer, restsOn, rightOf } from "../evaluate/score.ts";
import type { Judged } from "../evaluate/score.ts";
import { printList } from "../print/sections.ts";
import { waitForBatch } from "../watch/wait-for-batch.ts";
import { pollUntil } from "../watch/wait-for-jobs.ts";
import { checkInput } from "./ask.ts";
import { makeEvaluation } from "./eval-make.ts";
import { given, textOf } from "./options.ts";
import { quoteForShell } from "../../shared/terminal/styled-text.ts";

/** Asks a configuration, several models or two configurations a file of questions, and counts the right answers. */
export const evaluate: CommandHandler = async (invocation) => {
  const minRight = leastRight(invocation);
  const models = modelsOf(invocation);
  const against = textOf(invocation.options, "against");
  if (models.length > 0 && against !== undefined)
    throw new Failure(
      "USAGE_ERROR",
      "--models and --against exclude each other; give one of them.",
    );
  const context = await openContext(invocation);
  if (invocation.options["make"] !== undefined) return makeEvaluation(context);
  if (invocation.args[0] === undefined)
    throw new Failure("USAGE_ERROR", "Name the file of questions; eval --make 20 draws one.");
  const file = await readQuestions(invocation.args[0]);
  const contexts = [context];
  if (against !== undefined) {
    const options = { ...invocation.options, config: against };
    contexts.push(await openContext({ ...invocation, options }));
  }
  const results: Result[] = [];
  for (const each of contexts) {
    const asked = models.length === 0 ? [undefined] : models;
    for (const model of asked) {
      const label = model ?? relative(invocation.cwd, each.config.file);
      results.push(await askAll({ context: each, file, model, label }));
    }
  }
  await printResults(context, file, results);
  const below = results.filter(({ judged }) => isBelowPercent(rightOf(judged), minRight));
  for (const { label, judged } of below) {
    const { count, of } = rightOf(judged);
    context.terminal.say(
      `${label}: ${count} of ${of} are answered right, fewer than --min-right ${minRight}.`,
    );
  }
  return below.length > 0 ? EXIT.partial : EXIT.ok;
};

/** `--min-right` in per cent; 0 without the option. */
function leastRight({ options }: Invocation): number {
  const given = textOf(options, "minRight");
  if (given === undefined) return 0;
  if (/^0?\.\d/.test(given)) {
    throw new Failure(
      "USAGE_ERROR",
      `--min-right ${given} is less than one per cent; expected a share in per cent, such as ${Number.parseFloat(given) * 100}.`,
    );
  }
  const percent = /^\d{1,3}(?:\.\d{1,4})? ?%?$/.test(given) ? Number.parseFloat(given) : NaN;
  if (percent >= 0 && percent <= 100) return percent;
  throw new Failure(
    "USAGE_ERROR",
    `--min-right ${JSON.stringify(given)}; expected a share in per cent, from 0 to 100.`,
  );
}

function modelsOf({ options }: Invocation): readonly string[] {
  const given = textOf(options, "models");
  if (given === undefined) return [];
  const models = [...new Set(given.split(",").map((name) => name.trim()))].filter(Boolean);
  if (models.length > 0) return models;
  throw new Failure(
    "USAGE_ERROR",
    "--models names no model; expected names with commas between them, such as llama3.1:8b,qwen3:14b.",
  );
}

type Variant = {
  readonly context: CommandContext;
  readonly file: QuestionFile;
  readonly model: string | undefined;
  readonly label: string;
};

type Answered = Judged & { readonly answer: Answer };
type Result = Omit<Evaluated, "judged"> & {
  readonly batch: Named;
  readonly judged: readonly Answered[];
};

const askAll = (variant: Variant): Promise<Result> =>
  withDatabase(variant.context, "create", async (database) => {
    const { context, file, label } = variant;
    await refuseOtherWorkers(context, database);
    const batch = await queueQuestions(variant, database);
    await waitForBatch(context, database, batch.batchId);
    const byId = new Map<string, Answer>();
    for await (const result of readResults(database, batch.batchId))
      byId.set(result.custom_id, answerOf(result));
    sayOtherConfiguration(context, [...byId.values()]);
    const judged = file.questions.flatMap((question) => {
      const answer = byId.get(question.id);
      return answer === undefined
        ? []
        : [{ question, answer, verdict: judgeAnswer(question, answer) }];
    });
    return { label, batch, judged };
  });

/** The fields of a result that are needed until all results are judged. */
const answerOf = ({ evidence, ...result }: JobResult) => ({
  job_id: result.job_id,
  state: result.state,
  error_code: result.error_code,
  answer: result.answer,
  scope: result.scope,
  model: result.model_second ?? result.model_first,
  config_sha256: result.config_sha256,
  paths: evidence.flatMap(({ kind, path }) => (kind === "output" ? [] : [path])),
});
type Answer = ReturnType<typeof answerOf>;

/** An idle worker exits within seconds. */
const LEAVE_MS = 20_000;

/** Waits until no worker of this machine runs with another configuration, because it would answer in place of this one. */
async function refuseOtherWorkers(context: CommandContext, database: Database): Promise<void> {
  const { config, terminal } = context;
  const startedAt = performance.now();
  await pollUntil(async () => {
    const workers = await selectConfiguredWorkers(database);
    const other = workers.find(
      ({ host, configFile }) => host === hostname() && configFile !== config.file,
    );
    if (other === undefined) return true;
    terminal.status(`waiting for the worker of ${other.configFile} to leave`);
    if (performance.now() - startedAt < LEAVE_MS) return undefined;
    throw new Failure(
      "INPUT_INVALID",
      `A worker with the configuration ${other.configFile} (process ${other.pid}) takes the jobs of this database, too. ` +
        `Stop it, or give ${config.file} a database of its own.`,
    );
  });
  terminal.clearStatus();
}

type Named = { readonly batchId: string; readonly name: string };

/**
 * The batch of these questions for this configuration and model: the newest one, which continues where it was interrupted,
 * or a new one with `--again` or if documents changed after the newest ended.
 * @throws Failure NOT_FOUND if nothing is indexed
 */
async function queueQuestions(variant: Variant, database: Database): Promise<Named> {
  const { context, file } = variant;
  const { terminal, invocation, config } = context;
  const indexedAt = await selectIndexedAt(database);
  if (indexedAt === null) {
    throw new Failure(
      "NOT_FOUND",
      `The database of ${config.file} holds no document, so nothing could be answered. Fill it with: nightdesk index`,
    );
  }
  const { newest, next } = await findEarlier(database, batchStem(variant));
  const endedAt = newest?.finishedAt ?? null;
  const isStale = endedAt !== null && endedAt < indexedAt;
  if (newest === undefined || isStale || invocation.options["again"] === true)
    return insertQuestions(variant, database, next);
  if (endedAt !== null)
    terminal.say(`${file.name} was answered ${formatMoment(endedAt)}; --again asks anew.`);
  return newest;
}

const MOST_LABEL_CHARS = 80;

/** Equal for equal questions, models, configurations and versions, regardless of the expected answers. */
function batchStem({ context, file, model }: Variant): string {
  const { config, invocation } = context;
  const asked = file.questions.map(({ id, question }) => [id, question]);
  const of = [asked, model ?? null, configFingerprint(config), invocation.version];
  const digest = hash("sha256", JSON.stringify(of)).slice(0, 10);
  const names = [file.name, model].filter((name) => name !== undefined);
  return `eval ${names.map((name) => name.slice(0, MOST_LABEL_CHARS)).join(" ")} ${digest}`;
}

/** The newest batch with that name, unless it was cancelled or expired, and a free name for the next one. */
async function findEarlier(
  database: Database,
  stem: string,
): Promise<{ readonly newest: BatchProgress | undefined; readonly next: string }> {
  let newest: BatchProgress | undefined;
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? stem : `${stem} (${count})`;
    const found = await findBatch(database, name);
    if (found === undefined) return { newest, next: name };
    const canGoOn = found.state !== "cancelled" && found.state !== "expired";
    newest = canGoOn ? found : undefined;
  }
}

async function insertQuestions(
  { context, file, model }: Variant,
  database: Database,
  name: string,
): Promise<Named> {
  const jobs = file.questions.map(({ id, question }) => {
    const input = checkInput({ kind: "ask", question, options: given({ model }) });
    const affinity = modelAffinity(input, context.config.model);
    return { customId: id, input, inputSha256: hashJson(input), priority: 0, affinity };
  });
  return database.transaction(async (db) => {
    const { batchId } = await findOrCreateBatch(db, name, "file", AT_ONCE);
    for (let from = 0; from < jobs.length; from += PORTION)
      await insertJobs(db, batchId, jobs.slice(from, from + PORTION));
    await openBatch(db, batchId);
    return { batchId, name };
  });
}

const PORTION = 2_000;

/** Warns about answers of a worker with another configuration, for example of another machine. */
function sayOtherConfiguration(
  { terminal, config }: CommandContext,
  answers: readonly Answer[],
): void {
  const mine = configFingerprint(config);
  const others = answers.filter(
    ({ config_sha256: sha256 }) => sha256 !== null && sha256 !== mine,
  ).length;
  if (others === 0) return;
  terminal.say(
    `${countOf(others, "answer")} came from a worker with another configuration than ${config.file}, and count as its own. ` +
      "Stop that worker, and ask again with --again.",
  );
}

async function printResults(
  { terminal }: CommandContext,
  file: QuestionFile,
  results: readonly Result[],
): Promise<void> {
  const differences = differencesOf(results);
  if (terminal.isJson)
    return terminal.printJson({
      ok: true,
      file: file.name,
      questions: file.questions.length,
      evaluated: results.map(resultJson),
      differences,
    });
  const [first] = results;
  const isAlone = results.length === 1 && first !== undefined;
  await printList(terminal, isAlone ? evaluationTable(first) : comparisonTable(results));
  for (const difference of differences) terminal.say(describeDifference(difference));
  for (const result of results) sayWhatFailed(terminal, result);
  for (const { batch } of results)
    terminal.say(`Every answer: nightdesk batch report ${quoteForShell(batch.name)}`);
}

const resultJson = (result: Result) => ({
  label: result.label,
  batch_id: result.batch.batchId,
  batch: result.batch.name,
  groups: evaluationJson(result),
  questions: result.judged.map(({ question, answer, verdict }) => ({
    id: question.id,
    verdict,
    state: answer.state,
    error_code: answer.error_code,
    answer: answer.answer,
    job_id: answer.job_id,
    model: answer.model,
    rests_on_files: question.files.length === 0 ? null : restsOn(question.files, answer),
  })),
});

function sayWhatFailed(terminal: Terminal, { label, judged, batch }: Result): void {
  const failed = judged.filter(({ verdict }) => verdict === "failed");
  if (failed.length === 0) return;
  const codes = new Set(failed.map(({ answer }) => answer.error_code ?? answer.state));
  terminal.say(
    `${countOf(failed.length, "question")} to ${label} had no result (${[...codes].sort().join(", ")}), and count as not right. ` +
      `Once the cause is gone: nightdesk batch retry ${quoteForShell(batch.name)}, then ask again.`,
  );
}
