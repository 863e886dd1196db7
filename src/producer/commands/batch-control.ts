import {
  databaseCommand,
  openContext,
  withDatabase,
} from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler, Invocation } from "../../shared/commands/command.ts";
import { changeBatch, pauseBatch, resumeBatch } from "../../shared/store/jobs/batch-settings.ts";
import { notifyJobs } from "../../shared/store/jobs/batches.ts";
import { cancelBatch } from "../../shared/store/jobs/close-batches.ts";
import { evaluateHolds } from "../../shared/store/jobs/holds.ts";
import type { BatchProgress } from "../../shared/views/batches.ts";
import { pinBatch } from "../../shared/store/jobs/retention.ts";
import type { Pin } from "../../shared/store/jobs/retention.ts";
import { Failure } from "../../shared/failure.ts";
import { findNamedBatch } from "../../shared/views/find-named-batch.ts";
import {
  batchJson,
  formatCounts,
  formatState,
  holdRemedy,
} from "../../shared/views/batch-words.ts";
import { countOf, formatMoment, formatCount } from "../../shared/views/quantity.ts";
import { hintWorker } from "../watch/obstacles.ts";
import { argumentOf, batchSettingsOf } from "./options.ts";
import { quoteForShell } from "../../shared/terminal/styled-text.ts";

/** Starts no further job of a batch until it is resumed; running jobs may finish. */
export const batchPause = databaseCommand(async ({ terminal, invocation }, database) => {
  const { batchId, name } = await findNamedBatch(database, argumentOf(invocation));
  const outcome = await pauseBatch(database, batchId);
  await evaluateHolds(database);
  const batch = await findNamedBatch(database, batchId);
  if (terminal.isJson) await terminal.printJson(batchJson(batch));
  const quoted = quoteForShell(name);
  if (outcome === "ended") {
    terminal.say(`Batch ${quoted} is ${batch.state} already; there is nothing to pause.`);
    return;
  }
  const when = outcome === "paused" ? "is paused" : "was paused already";
  terminal.say(`Batch ${quoted} ${when}: ${formatCounts(batch)}.`);
  if (batch.counts.running > 0) {
    terminal.say(`${countOf(batch.counts.running, "job")} that run may finish.`);
  }
  terminal.say(`To go on: nightdesk batch resume ${quoted}`);
});

/** Resumes a paused batch. Another reason may still hold it. */
export const batchResume = databaseCommand(async (context, database) => {
  const { invocation } = context;
  const { batchId } = await findNamedBatch(database, argumentOf(invocation));
  const outcome = await resumeBatch(database, batchId);
  await evaluateHolds(database);
  await notifyJobs(database);
  const batch = await findNamedBatch(database, batchId);
  if (context.terminal.isJson) await context.terminal.printJson(batchJson(batch));
  printResumed(context, batch, outcome);
  if (batch.state === "queued" || batch.state === "running") await hintWorker(context, database);
});

function printResumed(
  { terminal }: CommandContext,
  batch: BatchProgress,
  outcome: "resumed" | "not_paused",
): void {
  const remedy = holdRemedy(batch);
  const done = outcome === "resumed" ? "was resumed" : "was not paused";
  const state =
    remedy === undefined ? formatCounts(batch) : `it is ${formatState(batch)}; ${remedy}`;
  const ended = batch.finishedAt === null ? state : `it is ${batch.state}`;
  terminal.say(`Batch ${JSON.stringify(batch.name)} ${done}: ${ended}${remedy ? "" : "."}`);
}

export const batchCancel = databaseCommand(async ({ terminal, invocation }, database) => {
  const before = await findNamedBatch(database, argumentOf(invocation));
  await cancelBatch(database, before.batchId, (ended) => {
    terminal.status(`${formatCount(ended)} of ${formatCount(waitingJobs(before))} jobs ended`);
  });
  terminal.clearStatus();
  const batch = await findNamedBatch(database, before.batchId);
  if (terminal.isJson) await terminal.printJson(batchJson(batch));
  terminal.say(
    before.finishedAt === null || waitingJobs(before) > 0
      ? `Cancelled batch ${JSON.stringify(batch.name)}: ${formatCounts(batch)}.`
      : `Batch ${JSON.stringify(batch.name)} is ${batch.state} already; there was nothing to cancel.`,
  );
  if (batch.counts.running > 0) terminal.say("What still runs is asked to stop.");
});

/** A cancelled batch may have waiting jobs too, if the command that cancelled it died. */
const waitingJobs = ({ counts }: BatchProgress): number => counts.queued + counts.parked;

/** Changes a batch's windows, deadline and priority. */
export const batchSet: CommandHandler = async (invocation) => {
  const settings = batchSettingsOf(invocation.options);
  if (Object.keys(settings).length === 0) {
    throw new Failure(
      "USAGE_ERROR",
      "Nothing to set; give --windows, --no-windows, --deadline or --priority.",
    );
  }
  const context = await openContext(invocation);
  return withDatabase(context, "must-exist", async (database) => {
    const { batchId, name, state } = await findNamedBatch(database, argumentOf(invocation));
    if ((await changeBatch(database, batchId, settings)) === "ended") {
      throw new Failure(
        "INPUT_INVALID",
        `Batch ${JSON.stringify(name)} is ${state}; there is nothing to set. ` +
          `What failed is queued again by: nightdesk batch retry ${quoteForShell(name)}; what was refused by: nightdesk batch rerun ${quoteForShell(name)} --refused`,
      );
    }
    await evaluateHolds(database);
    await notifyJobs(database);
    return printChanged(context, await findNamedBatch(database, batchId));
  });
};

async function printChanged({ terminal }: CommandContext, batch: BatchProgress): Promise<void> {
  if (terminal.isJson) await terminal.printJson(batchJson(batch));
  const { windows, deskWindows, deadlineAt, priority } = batch;
  const inForce = windows ?? deskWindows;
  const facts = [
    inForce.length === 0
      ? "runs at any time"
      : `runs in ${inForce.join(", ")}${windows === null ? " (of the configuration)" : ""}`,
    deadlineAt === null ? "has no deadline" : `expires ${formatMoment(deadlineAt)}`,
    `has priority ${priority}`,
  ];
  terminal.say(`Batch ${JSON.stringify(batch.name)} ${facts.join(", ")}.`);
  const remedy = holdRemedy(batch);
  if (remedy !== undefined) terminal.say(`It is ${formatState(batch)}; ${remedy}`);
}

/** Protects a batch from deletion for its age. */
export const batchPin: CommandHandler = (invocation) =>
  setPin(invocation, invocation.options["untilExported"] === true ? "until_exported" : "always");

export const batchUnpin: CommandHandler = (invocation) => setPin(invocation, null);

const setPin = (invocation: Invocation, pin: Pin | null) =>
  databaseCommand(async ({ terminal, config }, database) => {
    const { batchId, name } = await findNamedBatch(database, argumentOf(invocation));
    await pinBatch(database, batchId, pin);
    if (terminal.isJson) {
      await terminal.printJson({ ok: true, batch_id: batchId, batch: name, pinned: pin });
    }
    const kept = pin === null && config.runs.keep_days === null ? "unlimited" : (pin ?? "none");
    terminal.say(`Batch ${JSON.stringify(name)} ${PIN_TEXTS[kept]}.`);
  })(invocation);

const PIN_TEXTS = {
  always: "is kept, whatever its age, until it is unpinned",
  until_exported: "is kept, whatever its age, until it is exported",
  none: "is deleted when it is older than runs.keep_days",
  unlimited: "is pinned no more; it is kept all the same, as runs.keep_days deletes none",
} as const;
