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
/** How often the queue is refilled while more is due than it holds; interactive work wakes the dispatcher at once. */
const BACKLOG_MS = 200;
/** Pause between two slices of closed batches. */
const CLOSING_MS = 50;
const UPKEEP_MS = 2_000;
/** A delivery reaches the queue within this time. */
const IN_TRANSIT_MS = 2_000;
/** If the last run ended longer ago, the database was unreachable or the machine was asleep. */
const AWAY_MS = 2_000;
/** Other workers may not have renewed their leases meanwhile either: they get this time before jobs are taken back. */
const RENEWED_MS = 3_000;
const QUEUE_AWAY = "the queue does not answer; deadlines, windows and leases are kept all the same";

type DispatcherParts = KeeperParts & {
  readonly queue: JobQueue;
  readonly faults: FaultLog;
  readonly onCompleted: (batches: readonly CompletedBatch[]) => void;
};

/** Advances the state of batches, fills the queue from the rows, and takes back jobs that were lost on the way. */
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
      // If it added nothing before, a notification woke it: a new batch may need its windows evaluated.
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

/** If the queue is unreachable, work that needs it waits for the next run; work on the rows continues. */
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
 * @param depth how many deliveries the queue should hold
 * @param given how many deliveries were added before
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
    // A person waits for the job, or all answers of a night wait for the exam.
    place: origin === "ad_hoc" || kind === "examine" ? ("front" as const) : ("back" as const),
  }));
  try {
    await queue.add(deliveries);
  } catch (error) {
    // Deliveries that were not added become due again at once, and not only at the next upkeep.
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

/** Compares the rows with the queue: after FLUSHALL, or a crash between row and queue, deliveries are missing. */
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

/** The number of deliveries that the queue is filled up to. */
type QueueDepth = {
  readonly jobs: () => number;
  /** Reports how many places were free in a run, and are now filled. */
  filled(jobs: number): void;
};

/** Enough that batches take turns in blocks large enough to justify loading a model. */
const LEAST = 200;
const MOST = 1_000;
const QUIET_LOOKS = 5;

/**
 * Keeps the queue just deep enough not to run empty between two runs: a delivery in the queue keeps its place, even if a job
 * with a higher priority comes later.
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
