import { databaseCommand } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { BATCH_ORIGINS } from "../../shared/store/jobs/batches.ts";
import { selectHolds } from "../../shared/store/jobs/holds.ts";
import { countHeldBackJobs } from "../../shared/store/jobs/loads.ts";
import { countBatches, listBatches, selectProblems } from "../../shared/views/batches.ts";
import type { ProblemGroup } from "../../shared/views/batches.ts";
import { selectHookCalls } from "../../shared/store/schedules/hook-calls.ts";
import { selectBatchWaiting } from "../../shared/views/inbox.ts";
import type { BatchWaiting } from "../../shared/views/inbox.ts";
import { findNamedBatch } from "../../shared/views/find-named-batch.ts";
import { batchPage, batchTable } from "../../shared/views/batch-status.ts";
import { batchJson } from "../../shared/views/batch-words.ts";
import { formatCount } from "../../shared/views/quantity.ts";
import { printList, printPage } from "../print/sections.ts";
import { findObstacles } from "../watch/obstacles.ts";
import { argumentOf, countOfOption, moreText, selectUpTo } from "./options.ts";

export const batchShow = databaseCommand(async (context, database) => {
  const { terminal, invocation } = context;
  const { batchId } = await findNamedBatch(database, argumentOf(invocation));
  const code = await waitIfRequested(context, database, batchId);
  const batch = await findNamedBatch(database, batchId);
  const obstacles = batch.finishedAt === null ? await findObstacles(context, database) : [];
  const shown = {
    batch,
    problems: await selectProblems(database, batchId),
    heldBack: await countHeldBackJobs(database, batchId),
    hookCalls: await selectHookCalls(database, batchId),
    holds: await selectHolds(database, batchId),
    waiting: await selectBatchWaiting(database, batchId, SHOWN_CALLS),
  };
  if (terminal.isJson) {
    await terminal.printJson({
      ...batchJson(batch),
      pinned: batch.pinned,
      outputs: batch.outputs,
      obstacles: obstacles.map(({ what, code, message }) => ({ what, error_code: code, message })),
      held_back: shown.heldBack.jobs,
      is_loading: shown.heldBack.isLoading,
      holds: shown.holds,
      problems: shown.problems.map(problemJson),
      waiting_for_people: waitingJson(shown.waiting),
      on_batch_end: shown.hookCalls,
    });
  } else {
    const messages = obstacles.map(({ message }) => message);
    await printPage(terminal, batchPage({ ...shown, obstacles: messages }));
  }
  return code;
});

/** The most waiting calls that are listed one by one. */
const SHOWN_CALLS = 10;

const waitingJson = ({ groups, ...waiting }: BatchWaiting) => ({
  ...waiting,
  approvals: groups,
});

/** @returns the exit code of the wait, or 0 without --watch and --wait */
async function waitIfRequested(
  context: CommandContext,
  database: Database,
  batchId: string,
): Promise<number> {
  const { watch, wait, hold } = context.invocation.options;
  if (watch !== true && wait !== true) return EXIT.ok;
  const { waitForBatch } = await import("../watch/wait-for-batch.ts");
  return waitForBatch(context, database, batchId, {
    whenHeld: hold === false ? "return" : "wait",
    lines: watch === true ? "when_it_changes" : "none",
  });
}

const problemJson = ({ state, code, jobs, customIds, message }: ProblemGroup) => ({
  state,
  error_code: code,
  jobs,
  custom_ids: customIds,
  error_message: message,
});

const DEFAULT_LIMIT = 20;

export const batchList = databaseCommand(async ({ terminal, invocation }, database) => {
  const limit = countOfOption(invocation.options, "limit") ?? DEFAULT_LIMIT;
  const isAll = invocation.options["all"] === true;
  const origins = BATCH_ORIGINS.filter((origin) => isAll || origin !== "ad_hoc");
  const { rows: batches, hasMore } = await selectUpTo(limit, (most) =>
    listBatches(database, origins, most),
  );
  if (terminal.isJson) return terminal.printJson(batches.map(batchJson));
  // Batches of one job, which `ask` and other commands queue.
  const hidden = isAll ? 0 : await countBatches(database, "ad_hoc");
  if (batches.length > 0) await printList(terminal, batchTable(batches));
  if (hasMore) terminal.say(moreText("newest", limit));
  if (hidden > 0) terminal.say(formatHidden(hidden));
  if (batches.length === 0 && hidden === 0)
    terminal.say("There are no batches yet. Queue one with: nightdesk enqueue FILE");
});

const formatHidden = (hidden: number): string =>
  hidden === 1
    ? "1 batch of a single job, such as a question, is not listed; --all lists it, too."
    : `${formatCount(hidden)} batches of a single job, such as a question, are not listed; --all lists them, too.`;

export const batchWait = databaseCommand(async (context, database) => {
  const { invocation } = context;
  const { options } = invocation;
  const { batchId } = await findNamedBatch(database, argumentOf(invocation));
  const whenHeld = options["hold"] === false ? "return" : "wait";
  const { waitForBatch } = await import("../watch/wait-for-batch.ts");
  const code = await waitForBatch(context, database, batchId, { whenHeld });
  if (context.terminal.isJson) {
    await context.terminal.printJson(batchJson(await findNamedBatch(database, batchId)));
  }
  return code;
});
