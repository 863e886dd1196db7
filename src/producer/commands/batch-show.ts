import { databaseCommand, openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { BATCH_ORIGINS, countHeldBackJobs } from "../../shared/store/jobs/batches.ts";
import { selectHolds } from "../../shared/store/jobs/holds.ts";
import { countBatches, listBatches, selectProblems } from "../../shared/views/batches.ts";
import type { BatchProgress, ProblemGroup } from "../../shared/views/batches.ts";
import { selectHookCalls } from "../../shared/store/schedules/hook-calls.ts";
import { selectBatchWaiting } from "../../shared/views/inbox.ts";
import type { BatchWaiting } from "../../shared/views/inbox.ts";
import { findNamedBatch } from "../find-named.ts";
import { batchPage, batchTable } from "../../shared/views/batch-status.ts";
import { batchJson } from "../../shared/views/batch-words.ts";
import { formatCount } from "../../shared/views/quantity.ts";
import { printList, printPage } from "../print/sections.ts";
import { findObstacles } from "../watch/obstacles.ts";
import { argumentOf, countOfOption } from "./options.ts";

export const batchShow: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { terminal } = context;
  const { code, shown } = await withDatabase(context, "must-exist", async (database) => {
    const { batchId } = await findNamedBatch(database, argumentOf(invocation));
    const code = await waitIfAsked(context, database, batchId);
    const batch = await findNamedBatch(database, batchId);
    const problems = await selectProblems(database, batchId);
    const heldBack = await countHeldBackJobs(database, batchId);
    const hookCalls = await selectHookCalls(database, batchId);
    const holds = await selectHolds(database, batchId);
    const waiting = await selectBatchWaiting(database, batchId, SHOWN_CALLS);
    const obstacles = batch.finishedAt === null ? await findObstacles(context, database) : [];
    return { code, shown: { batch, obstacles, problems, heldBack, hookCalls, holds, waiting } };
  });
  if (invocation.options["json"] === true) {
    await terminal.printJson({
      ...batchJson(shown.batch),
      pinned: shown.batch.pinned,
      outputs: shown.batch.outputs,
      obstacles: shown.obstacles.map(({ what, code, message }) => ({
        what,
        error_code: code,
        message,
      })),
      held_back: shown.heldBack,
      holds: shown.holds,
      problems: shown.problems.map(problemJson),
      waiting_for_people: waitingJson(shown.waiting),
      on_batch_end: shown.hookCalls,
    });
  } else {
    const obstacles = shown.obstacles.map(({ message }) => message);
    await printPage(terminal, batchPage({ ...shown, obstacles }));
  }
  return code;
};

/** Calls that wait for somebody and are told one by one. */
const SHOWN_CALLS = 10;

const waitingJson = ({ groups, ...waiting }: BatchWaiting) => ({
  ...waiting,
  approvals: groups,
});

/** @returns the exit code: that of the wait, or 0 where nobody asked for one */
async function waitIfAsked(
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

/** `hidden` is how many batches of one job, which `ask` and other commands queue, are left out. */
type Listing = { readonly batches: readonly BatchProgress[]; readonly hidden: number };

export const batchList: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { terminal } = context;
  const limit = countOfOption(invocation.options, "limit") ?? DEFAULT_LIMIT;
  const choice = invocation.options["all"] === true ? "all" : "without single jobs";
  const { batches, hidden } = await withDatabase(context, "must-exist", (database) =>
    selectListing(database, choice, limit),
  );
  if (invocation.options["json"] === true) {
    await terminal.printJson(batches.map(batchJson));
    return EXIT.ok;
  }
  if (batches.length > 0) await printList(terminal, batchTable(batches));
  if (batches.length === limit) terminal.say(`The newest ${limit}; --limit N shows more.`);
  if (hidden > 0) terminal.say(formatHidden(hidden));
  if (batches.length === 0 && hidden === 0)
    terminal.say("There are no batches yet. Queue one with: nightdesk enqueue FILE");
  return EXIT.ok;
};

async function selectListing(
  database: Database,
  choice: "all" | "without single jobs",
  limit: number,
): Promise<Listing> {
  if (choice === "all")
    return { batches: await listBatches(database, BATCH_ORIGINS, limit), hidden: 0 };
  const origins = BATCH_ORIGINS.filter((origin) => origin !== "ad_hoc");
  return {
    batches: await listBatches(database, origins, limit),
    hidden: await countBatches(database, "ad_hoc"),
  };
}

const formatHidden = (hidden: number): string =>
  hidden === 1
    ? "1 batch of a single job, such as a question, is not listed; --all lists it, too."
    : `${formatCount(hidden)} batches of a single job, such as a question, are not listed; --all lists them, too.`;

export const batchWait = databaseCommand("must-exist", async (context, database) => {
  const { invocation } = context;
  const { options } = invocation;
  const { batchId } = await findNamedBatch(database, argumentOf(invocation));
  const whenHeld = options["hold"] === false ? "return" : "wait";
  const { waitForBatch } = await import("../watch/wait-for-batch.ts");
  const code = await waitForBatch(context, database, batchId, { whenHeld });
  if (options["json"] === true) {
    await context.terminal.printJson(batchJson(await findNamedBatch(database, batchId)));
  }
  return code;
});
