import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler, Invocation } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { endWaitingJobs } from "../../shared/db/jobs/close-batches.ts";
import { keepHolds } from "../../shared/db/jobs/holds.ts";
import type { BatchProgress } from "../../shared/db/jobs/read-batches.ts";
import { RETRIED_STATES, retryJobs } from "../../shared/db/jobs/retry-jobs.ts";
import type { RetriedState } from "../../shared/db/jobs/retry-jobs.ts";
import { Failure } from "../../shared/failure.ts";
import { findNamedBatch } from "../find-named-batch.ts";
import { batchJson, describeCounts, describeState } from "../print/describe-batch.ts";
import { holdRemedy } from "../print/describe-hold.ts";
import { countOf, formatCount } from "../print/quantity.ts";
import { hintWorker } from "../wait/hint-worker.ts";
import { argumentOf } from "./read-options.ts";

/** Queues what failed, expired or was cancelled again, in the same batch. */
export const batchRetry: CommandHandler = async (invocation) => {
  const states = statesOf(invocation);
  const context = await openContext(invocation);
  const { terminal } = context;
  return withDatabase(context, "must-exist", async (database) => {
    const before = await findNamedBatch(database, argumentOf(invocation));
    // What a cancellation has not come to yet would be cancelled after it was queued again.
    await endWaitingJobs(database, before.batchId);
    const retried = await retryJobs(database, before.batchId, states, (jobs) => {
      terminal.status(`${formatCount(jobs)} jobs queued again`);
    });
    terminal.clearStatus();
    await keepHolds(database);
    const batch = await findNamedBatch(database, before.batchId);
    if (invocation.options["json"] === true) {
      await terminal.printJson({ ...batchJson(batch), retried });
    }
    if (retried === 0) sayNothing(context, batch, states);
    else sayRetried(context, { before, batch, retried });
    if (retried > 0 && batch.holdReason === null) await hintWorker(context, database);
    return EXIT.ok;
  });
};

/** @throws Failure USAGE_ERROR for what is a result */
function statesOf({ options, args }: Invocation): readonly RetriedState[] {
  if (options["refused"] === true) {
    throw new Failure(
      "USAGE_ERROR",
      "A refusal is a result, and the same question would be refused again. When documents, model or configuration " +
        `have changed: nightdesk batch rerun ${JSON.stringify(args[0] ?? "")} --refused`,
    );
  }
  const chosen = RETRIED_STATES.filter((state) => options[state] === true);
  return chosen.length === 0 ? ["failed"] : chosen;
}

function sayNothing(
  { terminal }: CommandContext,
  { name, counts }: BatchProgress,
  states: readonly RetriedState[],
): void {
  const others = RETRIED_STATES.filter((state) => !states.includes(state) && counts[state] > 0);
  const hint = others.map((state) => `--${state} retries ${formatCount(counts[state])}`);
  terminal.say(
    `Batch ${JSON.stringify(name)} has no ${states.join(" or ")} job` +
      `${hint.length === 0 ? "" : `; ${hint.join(", ")}`}.`,
  );
}

type Retried = {
  readonly before: BatchProgress;
  readonly batch: BatchProgress;
  readonly retried: number;
};

function sayRetried({ terminal }: CommandContext, { before, batch, retried }: Retried): void {
  const name = JSON.stringify(batch.name);
  terminal.say(`Queued ${countOf(retried, "job")} of ${name} again: ${describeCounts(batch)}.`);
  if (before.deadlineAt !== null && batch.deadlineAt === null) {
    terminal.say(
      `Its deadline had passed and is removed; another: nightdesk batch set ${name} --deadline 8h`,
    );
  }
  const remedy = holdRemedy(batch);
  if (remedy !== undefined) terminal.say(`It is ${describeState(batch)}; ${remedy}`);
}
