import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { BATCH_ORIGINS, countHeldBackJobs } from "../../shared/store/jobs/batches.ts";
import { selectHolds } from "../../shared/store/jobs/holds.ts";
import type { PastHold } from "../../shared/store/jobs/holds.ts";
import { countBatches, listBatches, selectProblems } from "../../shared/views/batches.ts";
import type { BatchProgress, ProblemGroup } from "../../shared/views/batches.ts";
import { selectHookCalls } from "../../shared/store/schedules/hook-calls.ts";
import type { ShownCall } from "../../shared/store/schedules/hook-calls.ts";
import { layOutLines, line, styled, styledState } from "../../shared/styled-text.ts";
import type { Line } from "../../shared/styled-text.ts";
import type { Terminal } from "../../shared/terminal.ts";
import { findNamedBatch } from "../find-named.ts";
import {
  batchJson,
  describeHookCalls,
  describePastHolds,
  styledBatchState,
  styledCounts,
} from "../print/batch.ts";
import {
  countOf,
  describeMoment,
  formatCount,
  formatDuration,
  formatTime,
} from "../../shared/views/quantity.ts";
import { printList } from "../print/layout.ts";
import { findObstacles } from "../watch/obstacles.ts";
import type { Obstacle } from "../watch/obstacles.ts";
import { remedyOf, waitForBatch } from "../watch/wait-for-batch.ts";
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
    const told = await selectHookCalls(database, batchId);
    const holds = await selectHolds(database, batchId);
    const obstacles = batch.finishedAt === null ? await findObstacles(context, database) : [];
    return { code, shown: { batch, obstacles, problems, heldBack, told, holds } };
  });
  if (invocation.options["json"] === true) {
    await terminal.printJson({
      ...batchJson(shown.batch),
      pinned: shown.batch.pinned,
      obstacles: shown.obstacles.map(({ what, code, message }) => ({
        what,
        error_code: code,
        message,
      })),
      held_back: shown.heldBack,
      holds: shown.holds,
      problems: shown.problems.map(problemJson),
      on_batch_end: shown.told,
    });
  } else {
    const lines = layOutLines(describeBatch(shown, terminal.zone), terminal.dataColumns);
    for (const shownLine of lines) await terminal.print(shownLine);
  }
  return code;
};

/** @returns the exit code: that of the wait, or 0 where nobody asked for one */
async function waitIfAsked(
  context: CommandContext,
  database: Database,
  batchId: string,
): Promise<number> {
  const { watch, wait, hold } = context.invocation.options;
  if (watch !== true && wait !== true) return EXIT.ok;
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

type Shown = {
  readonly batch: BatchProgress;
  readonly obstacles: readonly Obstacle[];
  readonly problems: readonly ProblemGroup[];
  readonly heldBack: number;
  readonly told: readonly ShownCall[];
  readonly holds: readonly PastHold[];
};

function describeBatch(
  { batch, obstacles, problems, heldBack, told, holds }: Shown,
  zone: string | null,
): readonly Line[] {
  const finishedAt = batch.finishedAt;
  const took = finishedAt === null ? 0 : finishedAt.getTime() - batch.createdAt.getTime();
  return [
    `batch     ${batch.name}`,
    `id        ${batch.batchId}`,
    line`state     ${styledBatchState(batch)}`,
    ...describeRemedy(batch),
    ...obstacles.map(({ message }) => line`${styled("stopped", "bad")}   ${message}`),
    line`jobs      ${countOf(batch.total, "job")}: ${styledCounts(batch)}`,
    ...(heldBack === 0
      ? []
      : [
          `          ${countOf(heldBack, "job")} held back: the load was interrupted; enqueue the same file again`,
        ]),
    ...describeSettings(batch),
    `created   ${formatTime(batch.createdAt, zone)}`,
    ...(finishedAt === null
      ? []
      : [`finished  ${formatTime(finishedAt, zone)}, after ${formatDuration(took)}`]),
    ...describePastHolds(holds, zone).map(
      (line, index) => (index === 0 ? "held" : "").padEnd(10) + line,
    ),
    ...describeHookCalls(told, zone).map((line) => `told      ${line}`),
    ...(problems.length === 0 ? [] : ["", "What did not succeed:"]),
    ...problems.flatMap(describeProblem),
  ];
}

const describeRemedy = (batch: BatchProgress): readonly string[] => {
  const remedy = remedyOf(batch);
  return remedy === undefined ? [] : [`          ${remedy}`];
};

function describeSettings(batch: BatchProgress): readonly string[] {
  const { windows, deskWindows, deadlineAt, priority, pinned } = batch;
  const inForce = windows ?? deskWindows;
  const whose = windows === null ? " (of the desk)" : "";
  return [
    ...(inForce.length === 0 ? [] : [`windows   ${inForce.join(", ")}${whose}`]),
    ...(deadlineAt === null ? [] : [`deadline  ${describeMoment(deadlineAt)}`]),
    ...(priority === 0 ? [] : [`priority  ${priority}`]),
    ...(pinned === null ? [] : [`kept      ${PIN_WORDS[pinned]}`]),
  ];
}

const PIN_WORDS = {
  always: "pinned, whatever its age",
  until_exported: "pinned until exported",
} as const;

function describeProblem({ state, code, jobs, customIds, message }: ProblemGroup): readonly Line[] {
  const more = jobs > customIds.length ? ", …" : "";
  return [
    line`  ${code}, ${styledState(state, `${countOf(jobs, "job")} ${state}`)}: ${customIds.join(", ")}${more}`,
    `    ${message}`,
  ];
}

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
  await printTable(terminal, batches);
  if (batches.length === limit) terminal.say(`The newest ${limit}; --limit N shows more.`);
  if (hidden > 0) terminal.say(describeHidden(hidden));
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

const describeHidden = (hidden: number): string =>
  hidden === 1
    ? "1 batch of a single job, such as a question, is not listed; --all lists it, too."
    : `${formatCount(hidden)} batches of a single job, such as a question, are not listed; --all lists them, too.`;

async function printTable(terminal: Terminal, batches: readonly BatchProgress[]): Promise<void> {
  if (batches.length === 0) return;
  await printList(
    terminal,
    [
      { title: "batch", align: "left", cut: "middle", least: 14 },
      { title: "state", align: "left", least: 12 },
      { title: "jobs", align: "right" },
      { title: "of them", align: "left", least: 20, leftOut: 2 },
      { title: "created", align: "left", leftOut: 1 },
    ],
    batches.map((batch) => [
      batch.name,
      styledBatchState(batch),
      String(batch.total),
      styledCounts(batch),
      formatTime(batch.createdAt, terminal.zone, "minutes"),
    ]),
  );
}

export const batchWait: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { options } = invocation;
  return withDatabase(context, "must-exist", async (database) => {
    const { batchId } = await findNamedBatch(database, argumentOf(invocation));
    const whenHeld = options["hold"] === false ? "return" : "wait";
    const code = await waitForBatch(context, database, batchId, { whenHeld });
    if (options["json"] === true) {
      await context.terminal.printJson(batchJson(await findNamedBatch(database, batchId)));
    }
    return code;
  });
};
