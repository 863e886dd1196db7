import { openContext, withDatabase } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler, Invocation } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { configFingerprint } from "../../shared/config/config-fingerprint.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import type { BatchSettings } from "../../shared/store/jobs/batch-settings.ts";
import { endWaitingJobs } from "../../shared/store/jobs/close-batches.ts";
import { countDuplicates } from "../../shared/store/jobs/duplicates.ts";
import { evaluateHolds } from "../../shared/store/jobs/holds.ts";
import type { NewJob } from "../../shared/store/jobs/insert-jobs.ts";
import { endLoad } from "../../shared/store/jobs/loads.ts";
import type { BatchProgress } from "../../shared/views/batches.ts";
import type { RerunCandidate, RerunFilter } from "../../shared/store/jobs/reruns.ts";
import { RETRIED_STATES, retryJobs } from "../../shared/store/jobs/retry-jobs.ts";
import type { RetriedState } from "../../shared/store/jobs/retry-jobs.ts";
import { selectIndexedAt, STALE_REASONS } from "../../shared/store/jobs/evidence.ts";
import { selectPromptNotes } from "../../shared/store/memory.ts";
import { Failure } from "../../shared/failure.ts";
import { modelAffinity, withModel } from "../../shared/job/kinds.ts";
import { checkName, selectBatch, whileLoading } from "../../shared/enqueue/select-batch.ts";
import type { SelectedBatch } from "../../shared/enqueue/select-batch.ts";
import { hashJson } from "../../shared/schema/json-value.ts";
import { findNamedBatch } from "../../shared/views/find-named-batch.ts";
import {
  batchJson,
  formatCounts,
  formatState,
  holdRemedy,
} from "../../shared/views/batch-words.ts";
import { countOf, formatCount } from "../../shared/views/quantity.ts";
import { jobsOfDays } from "../selection/of-days.ts";
import { selectJobs, parseRerunFilter, rerunJobs } from "../selection/rerun.ts";
import type { RerunChoice, SelectedJobs } from "../selection/rerun.ts";
import { hintHold, hintWorker } from "../watch/obstacles.ts";
import { waitForBatch } from "../watch/wait-for-batch.ts";
import { argumentOf, batchSettingsOf, routeOf, textOf } from "./options.ts";
import { quoteForShell } from "../../shared/terminal/styled-text.ts";

/** Runs jobs of a batch again, in a new batch. A model call with an unchanged prompt is not repeated. */
export const batchRerun: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { options } = invocation;
  const chosen = parseRerunFilter(invocation, context.config);
  const requested = textOf(options, "batchName");
  if (requested !== undefined) checkName(requested);
  const settings = batchSettingsOf(options);
  return withDatabase(context, "must-exist", async (database) => {
    const old = await findNamedBatch(database, argumentOf(invocation));
    const stale = options["stale"] === true ? await currentState(context, database) : null;
    const choice = { filter: { ...chosen, stale }, narrow: jobsOfDays(context, database) };
    if (options["dryRun"] === true) {
      const counted = await selectJobs(database, old.batchId, choice, async () => undefined);
      return printCounted(context, old.name, counted);
    }
    return rerun(context, database, { old, choice, requested, settings });
  });
};

const currentState = async (
  { invocation, config }: CommandContext,
  database: Database,
): Promise<RerunFilter["stale"]> => ({
  version: invocation.version,
  configSha256: configFingerprint(config),
  digest: config.model.digest,
  indexedAt: await selectIndexedAt(database),
  noteIds: await selectNotes(database),
});

async function selectNotes(database: Database): Promise<readonly string[]> {
  const notes = await selectPromptNotes(database);
  return notes.filter(({ fits }) => fits).map(({ memory_id: memoryId }) => memoryId);
}

type RerunRequest = {
  readonly old: { readonly batchId: string; readonly name: string };
  readonly choice: RerunChoice;
  readonly requested: string | undefined;
  readonly settings: BatchSettings;
};

async function rerun(
  context: CommandContext,
  database: Database,
  { old, choice, requested, settings }: RerunRequest,
): Promise<number> {
  const batch = await selectBatch(database, requested, `${old.name} rerun`);
  if (!batch.created) {
    await endLoad(database, batch);
    throw new Failure(
      "INPUT_INVALID",
      `There is a batch ${JSON.stringify(batch.name)} already. Choose another --batch-name.`,
    );
  }
  const { batchId } = batch;
  const made = await whileLoading(database, batch, () =>
    rerunJobs(database, { batchId, repeats: old.batchId, settings }, choice, newJobOf(context)),
  );
  if (made.jobs === 0) return printCounted(context, old.name, made);
  await evaluateHolds(database);
  await printQueued(context, batch, made);
  if (context.invocation.options["wait"] === true) return waitForBatch(context, database, batchId);
  await hintHold(context, database, batchId);
  await hintWorker(context, database);
  return EXIT.ok;
}

/** Builds the same job with the same custom_id, for the model that is configured now unless its input names one. */
function newJobOf({ invocation, config }: CommandContext): (job: RerunCandidate) => NewJob {
  const model = textOf(invocation.options, "model");
  const route = routeOf(invocation.options);
  const other = {
    ...(model === undefined ? {} : { model }),
    ...(route === undefined ? {} : { route }),
  };
  return ({ jobId, customId, input: before, priority, size }) => {
    const input = Object.keys(other).length === 0 ? before : withModel(before, other);
    const affinity = modelAffinity(input, config.model);
    return {
      customId,
      input,
      inputSha256: hashJson(input),
      priority,
      affinity,
      size,
      rerunOf: jobId,
    };
  };
}

async function printCounted(
  { terminal }: CommandContext,
  name: string,
  chosen: SelectedJobs,
): Promise<number> {
  if (terminal.isJson) {
    await terminal.printJson({ ok: true, batch_id: null, batch: null, ...countsOf(chosen) });
    return EXIT.ok;
  }
  const batch = JSON.stringify(name);
  if (chosen.jobs === 0)
    terminal.say(`Nothing to rerun: no job of batch ${batch} is chosen by that.`);
  else
    await terminal.print(`${countOf(chosen.jobs, "job")} of batch ${batch} would be queued again.`);
  for (const line of formatReasons(chosen)) await terminal.print(line);
  return EXIT.ok;
}

async function printQueued(
  { terminal }: CommandContext,
  { batchId, name }: SelectedBatch,
  made: SelectedJobs & { readonly digests: number },
): Promise<void> {
  if (terminal.isJson) {
    const { digests } = made;
    await terminal.printJson({
      ok: true,
      batch_id: batchId,
      batch: name,
      ...countsOf(made),
      digests,
    });
    return;
  }
  await terminal.print(batchId);
  const above = made.digests === 0 ? "" : `, and ${countOf(made.digests, "digest")} above them`;
  terminal.say(`Queued ${countOf(made.jobs, "job")} in batch ${JSON.stringify(name)}${above}.`);
  for (const line of formatReasons(made)) terminal.say(line);
}

const countsOf = ({ jobs, reasons }: SelectedJobs) => ({
  jobs,
  reasons: Object.fromEntries(reasons),
});

const WORDS = {
  evidence_changed: "evidence that has changed since",
  document_gone: "evidence that is not in the index",
  index_changed: "a question, and the index has changed since",
  config_changed: "another configuration",
  version_changed: "another version of Nightdesk",
  model_changed: "other weights than model.digest",
  notes_changed: "other durable notes in its prompts",
} as const;

const formatReasons = ({ reasons }: SelectedJobs): readonly string[] =>
  STALE_REASONS.flatMap((reason) => {
    const jobs = reasons.get(reason);
    return jobs === undefined ? [] : [`  ${formatCount(jobs)}: ${WORDS[reason]}`];
  });

/** Queues failed, expired or cancelled jobs again, in the same batch. */
export const batchRetry: CommandHandler = async (invocation) => {
  const states = statesOf(invocation);
  const context = await openContext(invocation);
  const { terminal } = context;
  return withDatabase(context, "must-exist", async (database) => {
    const before = await findNamedBatch(database, argumentOf(invocation));
    // An unfinished cancellation would otherwise cancel the jobs after they are queued again.
    await endWaitingJobs(database, before.batchId);
    const retried = await retryJobs(database, before.batchId, states, (jobs) => {
      terminal.status(`${formatCount(jobs)} jobs queued again`);
    });
    terminal.clearStatus();
    await evaluateHolds(database);
    const batch = await findNamedBatch(database, before.batchId);
    if (terminal.isJson) {
      await terminal.printJson({ ...batchJson(batch), retried });
    }
    if (retried === 0) await printNothing(context, database, { batch, states });
    else printRetried(context, { before, batch, retried });
    if (retried > 0 && batch.holdReason === null) await hintWorker(context, database);
  });
};

/** @throws Failure USAGE_ERROR for refused jobs, because a refusal is a result */
function statesOf({ options, args }: Invocation): readonly RetriedState[] {
  if (options["refused"] === true) {
    throw new Failure(
      "USAGE_ERROR",
      "A refusal is a result, and the same question would be refused again. When documents, model or configuration " +
        `have changed: nightdesk batch rerun ${quoteForShell(args[0] ?? "")} --refused`,
    );
  }
  const chosen = RETRIED_STATES.filter((state) => options[state] === true);
  return chosen.length === 0 ? ["failed"] : chosen;
}

async function printNothing(
  { terminal }: CommandContext,
  database: Database,
  { batch, states }: { readonly batch: BatchProgress; readonly states: readonly RetriedState[] },
): Promise<void> {
  const copies = await countDuplicates(database, batch.batchId);
  const counts = { ...batch.counts, cancelled: batch.counts.cancelled - copies };
  const others = RETRIED_STATES.filter((state) => !states.includes(state) && counts[state] > 0);
  const name = quoteForShell(batch.name);
  const hint = [
    ...others.map((state) => `--${state} retries ${formatCount(counts[state])}`),
    ...(counts.refused === 0
      ? []
      : [
          `the refused (${formatCount(counts.refused)}) run again by nightdesk batch rerun ${name} --refused`,
        ]),
  ];
  terminal.say(
    `Batch ${name} has no ${states.join(" or ")} job` +
      `${hint.length === 0 ? "" : `; ${hint.join(", ")}`}.`,
  );
}

type Retried = {
  readonly before: BatchProgress;
  readonly batch: BatchProgress;
  readonly retried: number;
};

function printRetried({ terminal }: CommandContext, { before, batch, retried }: Retried): void {
  const name = JSON.stringify(batch.name);
  terminal.say(`Queued ${countOf(retried, "job")} of ${name} again: ${formatCounts(batch)}.`);
  if (before.deadlineAt !== null && batch.deadlineAt === null) {
    terminal.say(
      `Its deadline had passed and is removed; another: nightdesk batch set ${name} --deadline 8h`,
    );
  }
  const remedy = holdRemedy(batch);
  if (remedy !== undefined) terminal.say(`It is ${formatState(batch)}; ${remedy}`);
}
