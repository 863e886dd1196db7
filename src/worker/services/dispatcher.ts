import { deliveryId } from "../../shared/queue/job-queue.ts";
import type { JobQueue } from "../../shared/queue/job-queue.ts";
import { isQueueAway } from "../../shared/queue/storage.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { completeBatches, JOBS_CHANNEL } from "../../shared/store/jobs/batches.ts";
import type { CompletedBatch } from "../../shared/store/jobs/batches.ts";
import {
  dispatchDueJobs,
  requeueMissing,
  selectDispatched,
  takeBackLostJobs,
} from "../../shared/store/jobs/dispatch.ts";
import type { FaultLog } from "../loop.ts";
import { reconcileBatches } from "./batches.ts";
import type { ClosingPlaces, KeeperParts } from "./batches.ts";
import type { Service } from "./supervisor.ts";

const IDLE_MS = 1_000;
/** While more is due than the queue holds, it is filled up this often: work that somebody waits for wakes it at once. */
const BACKLOG_MS = 200;
/** Between two slices of what waits in closed batches. */
const CLOSING_MS = 50;
const UPKEEP_MS = 2_000;
/** A delivery is on its way to the queue for less than this. */
const IN_TRANSIT_MS = 2_000;
/** One that has not come to its end for so long did not reach the database, or was asleep. */
const AWAY_MS = 2_000;
/** Others may not have renewed their leases meanwhile, either: for so long that comes before what is taken back. */
const RENEWED_MS = 3_000;
const QUEUE_AWAY = "the queue does not answer; deadlines, windows and leases are kept all the same";

type DispatcherParts = KeeperParts & {
  readonly queue: JobQueue;
  readonly faults: FaultLog;
  readonly onCompleted: (batches: readonly CompletedBatch[]) => void;
};

/** Keeps the life of batches and the queue filled from the rows, and takes back what was lost on the way. */
export function dispatcherService(parts: DispatcherParts): Service {
  const depth = createQueueDepth();
  const places: ClosingPlaces = new Map();
  let endedAt = performance.now();
  let nextUpkeep = 0;
  let nextLook = 0;
  let life: "kept" | "closing" = "kept";
  let given = 0;
  let added = 0;
  return {
    name: "dispatcher",
    trouble: "jobs could not be dispatched",
    channels: [JOBS_CHANNEL],
    async run() {
      if (performance.now() - endedAt > AWAY_MS) nextUpkeep = performance.now() + RENEWED_MS;
      // When it was idle, somebody woke it: there may be a batch whose windows nobody has looked at.
      if (added === 0 || life === "closing" || performance.now() >= nextLook) {
        life = await reconcileBatches(parts, places);
        nextLook = performance.now() + IDLE_MS;
      }
      added = await unlessQueueAway(parts, () => fillQueue(parts, { depth: depth.jobs(), given }));
      given += added;
      depth.filled(added);
      if (performance.now() >= nextUpkeep) {
        await reconcileDeliveries(parts);
        nextUpkeep = performance.now() + UPKEEP_MS;
      }
      endedAt = performance.now();
      if (life === "closing") return CLOSING_MS;
      return added > 0 ? BACKLOG_MS : IDLE_MS;
    },
  };
}

/** What needs the queue is left for the next look when it is away; what needs the rows alone goes on. */
async function unlessQueueAway(
  { faults }: Pick<DispatcherParts, "faults">,
  body: () => Promise<number>,
): Promise<number> {
  try {
    const jobs = await body();
    faults.works(QUEUE_AWAY);
    return jobs;
  } catch (error) {
    if (!isQueueAway(error)) throw error;
    faults.broke(QUEUE_AWAY, error);
    return 0;
  }
}

const ALL_AT_ONCE = { depth: 1_000, given: 0 };

/**
 * @param depth how many deliveries the queue is to hold
 * @param given how many were added before
 * @returns how many were added now
 */
export async function fillQueue(
  { database, queue }: Pick<DispatcherParts, "database" | "queue">,
  { depth, given }: { readonly depth: number; readonly given: number } = ALL_AT_ONCE,
): Promise<number> {
  queue.check();
  const due = await dispatchDueJobs(database, depth, given);
  if (due.length === 0) return 0;
  const deliveries = due.map(({ jobId, dispatch, origin, kind }) => ({
    jobId,
    dispatch,
    // Somebody waits for it, or all answers of a night do.
    place: origin === "ad_hoc" || kind === "examine" ? ("front" as const) : ("back" as const),
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

async function reconcileDeliveries(parts: DispatcherParts): Promise<void> {
  const { database, queue, logger, onCompleted } = parts;
  const lost = await takeBackLostJobs(database);
  if (lost > 0) logger.warn({ jobs: lost }, "took back jobs of a worker that died");
  onCompleted(await completeBatches(database, null));
  const missing = await unlessQueueAway(parts, () => requeueLostDeliveries(database, queue));
  if (missing > 0) logger.warn({ jobs: missing }, "deliveries were lost, dispatching them again");
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

/** How many deliveries the queue is filled up to. */
type QueueDepth = {
  readonly jobs: () => number;
  /** Tells how many places were free at a look, and filled. */
  filled(jobs: number): void;
};

/** Enough for batches to take turns in blocks that are worth loading a model for. */
const LEAST = 200;
const MOST = 1_000;
const QUIET_LOOKS = 5;

/**
 * The queue is as deep as it must be not to run empty between two looks, and no deeper: what is in it keeps its place,
 * whatever comes later with a higher priority.
 */
export function createQueueDepth(): QueueDepth {
  let depth = LEAST;
  let quiet = 0;
  return {
    jobs: () => depth,
    filled(jobs) {
      quiet = jobs * 4 < depth ? quiet + 1 : 0;
      if (jobs * 2 >= depth) depth = Math.min(MOST, depth * 2);
      else if (quiet >= QUIET_LOOKS) {
        depth = Math.max(LEAST, Math.floor(depth / 2));
        quiet = 0;
      }
    },
  };
}
