import type { CommandContext } from "../../shared/command-context.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/db/database.ts";
import { findBatch } from "../../shared/db/jobs/read-batches.ts";
import type { BatchProgress } from "../../shared/db/jobs/read-batches.ts";
import { Failure } from "../../shared/failure.ts";
import type { Terminal } from "../../shared/terminal.ts";
import { describeCounts, describeState, doneOf } from "../print/describe-batch.ts";
import { createBatchMeter } from "./batch-meter.ts";
import { interruptible } from "./interrupt.ts";
import { keepWorker } from "./keep-worker.ts";
import { pollUntil } from "./poll.ts";

const LINE_EVERY_MS = 5_000;
/** A line that says the same as the last is worth less. */
const SAME_LINE_EVERY_MS = 60_000;

/**
 * Waits until a batch has ended, with a progress bar on a terminal and a line every 5 s elsewhere, and says how it
 * ended.
 * @param whenHeld `return`: come back with 75 when the batch is held, or only parked jobs are left
 * @returns the exit code: 0 all succeeded, 3 some did not
 */
export async function waitForBatch(
  context: CommandContext,
  database: Database,
  batchId: string,
  whenHeld: "wait" | "return" = "wait",
): Promise<number> {
  const { terminal } = context;
  const batch = await interruptible(
    terminal,
    () =>
      `Stopped waiting. The batch goes on as long as a worker does: nightdesk batch show ${batchId}`,
    async (atInterrupt) => {
      const keeper = keepWorker(context, database);
      atInterrupt(() => {
        keeper.stop();
      });
      const show = createDisplay(terminal);
      return pollUntil(async () => {
        const found = await findBatch(database, batchId);
        if (found === undefined)
          throw new Failure("NOT_FOUND", `Batch ${batchId} is gone: it was deleted.`);
        if (hasEnded(found) || (whenHeld === "return" && isDelayed(found))) return found;
        show(found);
        await keeper.look();
        return undefined;
      });
    },
  );
  terminal.clearStatus();
  terminal.say(describeEnd(batch));
  if (!hasEnded(batch)) return EXIT.tryLater;
  return batch.counts.succeeded === batch.total ? EXIT.ok : EXIT.partial;
}

/** The rows of jobs decide: the worker marks the batch a moment after its last job. */
const hasEnded = (batch: BatchProgress): boolean =>
  batch.state !== "loading" &&
  (doneOf(batch) === batch.total || batch.finishedAt !== null) &&
  batch.counts.running === 0;

const isDelayed = ({ state, counts }: BatchProgress): boolean =>
  state === "held" || (counts.parked > 0 && counts.queued === 0 && counts.running === 0);

function createDisplay(terminal: Terminal): (batch: BatchProgress) => void {
  const meter = createBatchMeter();
  let last = { at: performance.now(), counts: "" };
  return (batch) => {
    const line = meter.read(batch);
    terminal.status(line);
    const counts = describeCounts(batch);
    const pause = counts === last.counts ? SAME_LINE_EVERY_MS : LINE_EVERY_MS;
    if (terminal.isInteractive || performance.now() - last.at < pause) return;
    terminal.say(line);
    last = { at: performance.now(), counts };
  };
}

function describeEnd(batch: BatchProgress): string {
  const name = JSON.stringify(batch.name);
  if (hasEnded(batch)) return `Batch ${name} has ended: ${describeCounts(batch)}.`;
  return `Batch ${name} is ${describeState(batch)}; ${describeCounts(batch)}. It goes on by itself.`;
}
