import type { Database } from "../../shared/db/database.ts";
import { completeBatches } from "../../shared/db/jobs/batches.ts";
import type { CompletedBatch } from "../../shared/db/jobs/batches.ts";
import {
  dispatchDueJobs,
  requeueMissing,
  selectDispatched,
  takeBackLostJobs,
} from "../../shared/db/jobs/dispatch.ts";
import type { Logger } from "../../shared/logger.ts";
import { deliveryId } from "../../shared/queue.ts";
import type { JobQueue } from "../../shared/queue.ts";
import type { FaultLog } from "./fault-log.ts";
import { repeat } from "./repeat.ts";
import type { Repeating } from "./repeat.ts";

/** How many deliveries the queue holds at most: enough to keep workers busy between two looks, and no more. */
export const QUEUE_DEPTH = 1_000;
const IDLE_MS = 1_000;
/** While more is due than the queue holds, it is filled up this often. */
const BACKLOG_MS = 50;
const UPKEEP_MS = 2_000;
/** A delivery is on its way to the queue for less than this. */
const IN_TRANSIT_MS = 2_000;
const AFTER_ERROR_MS = 1_000;
const UNDISPATCHED = "jobs could not be dispatched";

export type DispatcherParts = {
  readonly database: Database;
  readonly queue: JobQueue;
  readonly logger: Logger;
  readonly faults: FaultLog;
  readonly onCompleted: (batches: readonly CompletedBatch[]) => void;
};

/** Keeps the queue filled from the rows, and takes back what was lost on the way. */
export function startDispatcher(parts: DispatcherParts): Repeating {
  let nextUpkeep = 0;
  return repeat(
    async () => {
      const added = await fillQueue(parts);
      parts.faults.works(UNDISPATCHED);
      if (performance.now() >= nextUpkeep) {
        await keepUp(parts);
        nextUpkeep = performance.now() + UPKEEP_MS;
      }
      return added > 0 ? BACKLOG_MS : IDLE_MS;
    },
    (err) => {
      parts.faults.broke(UNDISPATCHED, err);
      // Where this worker did not reach the database, others may not have renewed their leases: they come first.
      nextUpkeep = performance.now() + AFTER_ERROR_MS + UPKEEP_MS;
      return AFTER_ERROR_MS;
    },
  );
}

/** @returns how many deliveries were added */
export async function fillQueue({
  database,
  queue,
}: Pick<DispatcherParts, "database" | "queue">): Promise<number> {
  const due = await dispatchDueJobs(database, QUEUE_DEPTH);
  if (due.length === 0) return 0;
  const deliveries = due.map(({ jobId, dispatch, origin }) => ({
    jobId,
    dispatch,
    place: origin === "ad_hoc" ? ("front" as const) : ("back" as const),
  }));
  try {
    await queue.add(deliveries);
  } catch (error) {
    // What did not get there is due again at once, and not only after the next upkeep.
    await requeueMissing(database, due);
    throw error;
  }
  return due.length;
}

async function keepUp({ database, queue, logger, onCompleted }: DispatcherParts): Promise<void> {
  const lost = await takeBackLostJobs(database);
  if (lost > 0) logger.warn({ jobs: lost }, "took back jobs of a worker that died");
  const missing = await requeueLostDeliveries(database, queue);
  if (missing > 0) logger.warn({ jobs: missing }, "deliveries were lost, dispatching them again");
  onCompleted(await completeBatches(database, null));
}

/** Compares the rows with the queue: after FLUSHALL, or a crash between row and queue, they differ. */
export async function requeueLostDeliveries(
  database: Database,
  queue: JobQueue,
  inTransitMs: number = IN_TRANSIT_MS,
): Promise<number> {
  const dispatched = await selectDispatched(database, inTransitMs);
  if (dispatched.length === 0 || (await queue.countWaiting()) >= dispatched.length) return 0;
  const present = await queue.deliveryIds();
  const missing = dispatched.filter(
    ({ jobId, dispatch }) => !present.has(deliveryId(jobId, dispatch)),
  );
  return missing.length === 0 ? 0 : requeueMissing(database, missing);
}
