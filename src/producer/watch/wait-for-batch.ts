import type { CommandContext } from "../../shared/commands/command-context.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Database, Queryable } from "../../shared/store/connection/database.ts";
import { countFailedDocuments } from "../../shared/store/index/document-failures.ts";
import { countDuplicates } from "../../shared/store/jobs/duplicates.ts";
import { selectPace, selectWorkLeft, selectWorkSpent } from "../../shared/store/jobs/waiting.ts";
import { countJobsWaiting } from "../../shared/views/inbox.ts";
import { findBatch } from "../../shared/views/batches.ts";
import type { BatchProgress } from "../../shared/views/batches.ts";
import { Failure } from "../../shared/failure.ts";
import { runInterruptible } from "../../shared/terminal/interruptible.ts";
import { line, quoteForShell } from "../../shared/terminal/styled-text.ts";
import type { Line } from "../../shared/terminal/styled-text.ts";
import type { Terminal } from "../../shared/terminal/terminal.ts";
import {
  formatCounts,
  formatHold,
  formatState,
  doneOf,
  countsText,
  remedyOf,
  stateText,
} from "../../shared/views/batch-words.ts";
import { leftOutText, selectGrades } from "../../shared/views/claims.ts";
import { countOf, formatCount } from "../../shared/views/quantity.ts";
import { lineOf } from "../print/sections.ts";
import { createCountdown, formatLeft, secondsLeft } from "./estimate-left.ts";
import type { Countdown } from "./estimate-left.ts";
import { ensureWorker } from "./ensure-worker.ts";
import { decidingCommand, hintHost } from "./obstacles.ts";
import { pollUntil } from "./wait-for-jobs.ts";

type WaitOptions = {
  /** `return`: return 75 if the batch is held or still loading, or only parked jobs are left. */
  readonly whenHeld?: "wait" | "return";
  /** Without a terminal for a progress bar: whether to print a line when the counts change. */
  readonly lines?: "none" | "when_it_changes";
};

const MOST_LINES_EVERY_MS = 1_000;

/**
 * Waits until a batch has ended, with a progress bar on a terminal, and prints how it ended.
 * @returns the exit code: 0 all succeeded, 3 some did not or documents could not be indexed, 75 for `whenHeld: "return"`
 */
export async function waitForBatch(
  context: CommandContext,
  database: Database,
  batchId: string,
  { whenHeld = "wait", lines = "none" }: WaitOptions = {},
): Promise<number> {
  const { terminal } = context;
  await hintHost(context, database);
  const startedAt = performance.now();
  const batch = await runInterruptible(
    terminal,
    () =>
      `Stopped waiting. The batch goes on as long as a worker does: nightdesk batch show ${batchId}`,
    async (atInterrupt) => {
      const keeper = ensureWorker(context, database);
      atInterrupt(() => {
        keeper.stop();
      });
      const show = createDisplay(terminal, createWorkReader(database, batchId), lines);
      const printHeld = createHoldPrinter(terminal);
      const printWaiting = createWaitingPrinter(terminal, database);
      const printFault = createFaultPrinter(terminal);
      return pollUntil(async () => {
        const found = await findBatch(database, batchId);
        if (found === undefined)
          throw new Failure("NOT_FOUND", `Batch ${batchId} is gone: it was deleted.`);
        await printWaiting(found);
        if (hasEnded(found) || (whenHeld === "return" && isDelayed(found))) return found;
        await show(found);
        printHeld(found);
        await keeper.check();
        printFault(keeper.queueFault());
        return undefined;
      });
    },
  );
  terminal.clearStatus();
  terminal.say(formatEnd(batch));
  if (!hasEnded(batch)) return EXIT.tryLater;
  const failed = await countFailedDocuments(database, batchId);
  if (failed > 0) terminal.say(`${countOf(failed, "document")} could not be indexed.`);
  await printLeftOut(context, database, batch);
  hintReport(context, batch, performance.now() - startedAt);
  // With --dedupe, a copy without its own result counts as done.
  const duplicates = await countDuplicates(database, batchId);
  const isComplete = batch.counts.succeeded + duplicates === batch.total;
  return failed === 0 && isComplete ? EXIT.ok : EXIT.partial;
}

/**
 * Decided by the rows of jobs: the worker marks the batch a moment after its last job, and a cancelled batch has
 * ended when its last job has.
 */
const hasEnded = (batch: BatchProgress): boolean =>
  batch.state !== "loading" && doneOf(batch) === batch.total;

const isDelayed = ({ state, counts }: BatchProgress): boolean =>
  state === "held" ||
  state === "loading" ||
  (counts.parked > 0 && counts.queued === 0 && counts.running === 0);

function createDisplay(
  terminal: Terminal,
  work: WorkReader,
  lines: NonNullable<WaitOptions["lines"]>,
): (batch: BatchProgress) => Promise<void> {
  const meter = createBatchMeter();
  let last = { at: performance.now(), counts: "" };
  return async (batch) => {
    if (!terminal.isInteractive && lines === "none") return;
    const progress = meter.read(batch, await work.read());
    terminal.status(progress);
    const counts = formatCounts(batch);
    if (terminal.isInteractive || counts === last.counts) return;
    if (performance.now() - last.at < MOST_LINES_EVERY_MS) return;
    terminal.say(progress);
    last = { at: performance.now(), counts };
  };
}

/** Prints once per reason that the batch is held or still loading, and the remedy. */
function createHoldPrinter(terminal: Terminal): (batch: BatchProgress) => void {
  let lastReason: string | null = null;
  return (batch) => {
    const reason = batch.state === "loading" ? "loading" : batch.holdReason;
    if (reason === lastReason) return;
    lastReason = reason;
    const remedy = remedyOf(batch);
    if (remedy === undefined) return;
    const how = batch.state === "loading" ? "loading" : formatHold(batch);
    terminal.say(`Batch ${JSON.stringify(batch.name)} is ${how}; ${remedy}`);
  };
}

/** Prints once that runs of the batch wait for a person's decision. */
function createWaitingPrinter(
  terminal: Terminal,
  database: Queryable,
): (batch: BatchProgress) => Promise<void> {
  let isPrinted = false;
  return async ({ batchId, name, counts }) => {
    if (isPrinted || counts.parked === 0) return;
    const jobs = await countJobsWaiting(database, batchId);
    if (jobs === 0) return;
    isPrinted = true;
    terminal.say(
      `${countOf(jobs, "run")} of it ${jobs === 1 ? "waits" : "wait"} for somebody: ` +
        `${await decidingCommand(database, batchId)} --batch ${quoteForShell(name)}`,
    );
  };
}

/** Prints when the queue becomes unreachable, and when it is back; in between the batch makes no progress. */
function createFaultPrinter(terminal: Terminal): (fault: Failure | undefined) => void {
  let isAway = false;
  return (fault) => {
    if ((fault !== undefined) === isAway) return;
    isAway = fault !== undefined;
    terminal.say(
      fault === undefined
        ? "The queue is back."
        : `${fault.code}: ${fault.message} The batch goes on when it is back.`,
    );
  };
}

function formatEnd(batch: BatchProgress): Line {
  const name = JSON.stringify(batch.name);
  const counts = lineOf(countsText(batch));
  if (hasEnded(batch)) return line`Batch ${name} has ended: ${counts}.`;
  const remedy = remedyOf(batch) ?? "it goes on by itself";
  return line`Batch ${name} is ${lineOf(stateText(batch))}; ${counts}; ${remedy}`;
}

/** Prints how many statements were left out of answers for lack of evidence, and how to list them. */
async function printLeftOut(
  { terminal }: CommandContext,
  database: Database,
  { batchId }: BatchProgress,
): Promise<void> {
  const leftOut = leftOutText(await selectGrades(database, batchId));
  if (leftOut === null) return;
  terminal.say(
    `${leftOut}. Which: nightdesk sql "select custom_id, claim, reason from claims where batch_id = '${batchId}' and fate = 'dropped'"`,
  );
}

/** After a wait of this length the user has not watched every job. */
const LONG_WAIT_MS = 60_000;

/** After a long wait, prints the command for the report. */
function hintReport({ terminal }: CommandContext, batch: BatchProgress, waitedMs: number): void {
  if (waitedMs < LONG_WAIT_MS || batch.total < 2) return;
  terminal.say(`For the report on it: nightdesk batch report ${quoteForShell(batch.name)}`);
}

const BAR_WIDTH = 20;
const WINDOW_MS = 30_000;

type BatchMeter = {
  /**
   * One line on the progress: jobs and tokens per second, and the time left. The most important comes first, because a
   * narrow terminal cuts the end.
   * @param work the estimate for the rest; without it the line has no time
   */
  read(batch: BatchProgress, work?: BatchWork): string;
};

/** @param now monotonic clock, milliseconds */
export function createBatchMeter(
  now: () => number = performance.now.bind(performance),
): BatchMeter {
  const countdown = createCountdown(now);
  let seen: { readonly done: number; readonly at: number }[] = [];
  return {
    read(batch, work) {
      const done = doneOf(batch);
      const at = now();
      // The clock of the rate starts only with the first progress, because a worker may not run yet.
      const hasBegun = seen.some((earlier) => earlier.done < done);
      seen = hasBegun ? seen.filter((earlier) => at - earlier.at < WINDOW_MS) : [];
      seen.push({ done, at });
      const [first = { done, at }] = seen;
      const jobsPerSecond = (done - first.done) / Math.max(0.001, (at - first.at) / 1_000);
      return [
        `${drawBar(done, batch.total)} ${formatCount(done)}/${formatCount(batch.total)}`,
        ...(batch.holdReason === null ? [] : [formatState(batch)]),
        ...(jobsPerSecond > 0 ? [`${formatRate(jobsPerSecond)} jobs/s`] : []),
        ...formatTokens(work),
        ...formatEstimate(batch, work, countdown),
        formatCounts(batch),
      ].join(" · ");
    },
  };
}

function drawBar(done: number, total: number): string {
  const filled = total === 0 ? 0 : Math.floor((done / total) * BAR_WIDTH);
  return `[${"#".repeat(filled)}${"-".repeat(BAR_WIDTH - filled)}]`;
}

const formatRate = (perSecond: number): string =>
  perSecond < 10 ? perSecond.toFixed(1) : formatCount(perSecond);

const formatTokens = (work: BatchWork | undefined): readonly string[] =>
  work === undefined || work.tokensPerSecond === 0
    ? []
    : [`${formatRate(work.tokensPerSecond)} tokens/s`];

/** Empty for a held batch, whose estimate would be a guess. */
function formatEstimate(
  batch: BatchProgress,
  work: BatchWork | undefined,
  countdown: Countdown,
): readonly string[] {
  const isMoving = batch.holdReason === null && doneOf(batch) < batch.total;
  const seconds = countdown.show(isMoving ? work?.secondsLeft : undefined);
  return seconds === undefined ? [] : [formatLeft(seconds)];
}

/** The estimated time for the rest of a batch, undefined while unknown, and its tokens per second. */
type BatchWork = {
  readonly secondsLeft: number | undefined;
  readonly tokensPerSecond: number;
};

type WorkReader = {
  /** The last value that was read; undefined before the first. */
  read(): Promise<BatchWork | undefined>;
};

/** Delay of the first read, so that short waits cost no query. */
const FIRST_MS = 2_000;
const EVERY_MS = 2_000;
/** A read takes a second for a million jobs, and may take a fiftieth of the time. */
const PAUSE_PER_MS = 50;

/** The smallest assumed share of a batch: it will not get so few turns beside other batches forever. */
const LEAST_SHARE = 0.1;

/** Reads the work of a batch from time to time. @param now monotonic clock, milliseconds */
export function createWorkReader(
  db: Queryable,
  batchId: string,
  now: () => number = performance.now.bind(performance),
): WorkReader {
  let nextAt = now() + FIRST_MS;
  let known: BatchWork | undefined;
  return {
    async read() {
      const startedAt = now();
      if (startedAt < nextAt) return known;
      known = await readWork(db, batchId);
      const endedAt = now();
      nextAt = endedAt + Math.max(EVERY_MS, (endedAt - startedAt) * PAUSE_PER_MS);
      return known;
    },
  };
}

async function readWork(db: Queryable, batchId: string): Promise<BatchWork> {
  const left = await selectWorkLeft(db, batchId);
  const alone = secondsLeft(left, await selectWorkSpent(db, batchId));
  const { tokens, seconds, share } = await selectPace(db, batchId);
  return {
    // Other batches take turns with this one.
    secondsLeft: alone === undefined ? undefined : alone / Math.max(LEAST_SHARE, share),
    tokensPerSecond: seconds === 0 ? 0 : tokens / seconds,
  };
}
