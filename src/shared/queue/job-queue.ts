import { randomUUID } from "node:crypto";
import type { BackendFactory, IQueueBackend } from "bullmq";
import { queueTelemetry } from "./queue-telemetry.ts";
import {
  bullmq,
  deliveryWorker,
  limitQueue,
  openWithBackend,
  placeOf,
  WORKER_TIMES,
} from "./storage.ts";
import type { DeliveryWorker, QueueStorage } from "./storage.ts";

/** A delivery holds only ids: the rows are the source of truth. */
type Delivery = {
  readonly jobId: string;
  readonly dispatch: number;
  /** A job that a person waits for goes to the front. */
  readonly place: "front" | "back";
};

/**
 * Both ends of the queue. BullMQ and its storage stay behind this type. When the queue does not answer within 10 s, calls throw
 * Failure QUEUE_UNREACHABLE, and further calls are not sent until it answers.
 */
export type JobQueue = {
  /** @throws Failure QUEUE_UNREACHABLE while an answer is overdue */
  check(): void;
  /** A delivery that is still in the queue is not added a second time. */
  add(deliveries: readonly Delivery[]): Promise<void>;
  /** The number of deliveries that wait. */
  countWaiting(): Promise<number>;
  /** Ids (`<job id>-<dispatch>`) of all deliveries that wait or are being handled. */
  deliveryIds(): Promise<ReadonlySet<string>>;
  work(
    concurrency: number,
    handle: (delivery: { jobId: string; dispatch: number }) => Promise<void>,
  ): DeliveryWorker;
  close(): Promise<void>;
};

const QUEUE_NAME = "nightdesk";
/** In effect no limit: a redelivery that finds a live lease has no effect. The number must fit into 4 bytes in Postgres. */
const MAX_STALLED = 1_000_000_000;

export const deliveryId = (jobId: string, dispatch: number): string => `${jobId}-${dispatch}`;

/** Opens the queue on its storage. @param onError receives connection errors, from which BullMQ recovers by itself */
export const openQueue = (storage: QueueStorage, onError: (error: unknown) => void): JobQueue =>
  openWithBackend(storage, (factory, base) =>
    createQueue(factory, base, { place: placeOf(storage), backend: storage.backend, onError }),
  );

type DeliveryData = { readonly jobId: string; readonly dispatch: number };

type QueueParts = {
  readonly place: string;
  readonly backend: QueueStorage["backend"];
  readonly onError: (error: unknown) => void;
};

const PRESENT = ["waiting", "active", "prioritized", "delayed"] as const;

function createQueue<Backend extends IQueueBackend, Connection>(
  factory: BackendFactory<Backend, Connection>,
  base: { connection: Connection; prefix?: string },
  { place, backend, onError }: QueueParts,
): JobQueue {
  const { Queue, Worker } = bullmq.withBackend(factory);
  const telemetry = queueTelemetry();
  const traced = telemetry === undefined ? {} : { telemetry };
  const open = () => {
    const opened = new Queue<DeliveryData>(QUEUE_NAME, {
      ...base,
      ...traced,
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
    });
    opened.on("error", onError);
    return opened;
  };
  let queue = open();
  const countWaiting = () => queue.getJobCountByTypes("waiting", "prioritized", "delayed");
  const limited = limitQueue(place, countWaiting);
  let isProven = false;
  const run = <T>(command: () => Promise<T>): Promise<T> =>
    limited.run(async () => {
      try {
        const answer = await command();
        isProven = true;
        return answer;
      } catch (error) {
        // On Postgres, a queue whose first connection failed never tries again.
        if (!isProven) {
          queue.close().catch(onError);
          queue = open();
        }
        throw error;
      }
    });
  return {
    check() {
      limited.check();
    },
    async add(deliveries) {
      const jobs = deliveries.map(({ jobId, dispatch, place: end }) => ({
        name: "run",
        data: { jobId, dispatch },
        opts: { jobId: deliveryId(jobId, dispatch), lifo: end === "front" },
      }));
      await run(() => queue.addBulk(jobs));
    },
    countWaiting: () => run(countWaiting),
    async deliveryIds() {
      // On Postgres, getJobs sends one query for each job. On Redis it is one command, and skips ids whose jobs were evicted.
      if (backend === "postgres")
        return new Set(await run(() => queue.getRanges([...PRESENT], 0, -1)));
      const jobs = await run(() => queue.getJobs([...PRESENT]));
      return new Set(jobs.map(({ id }) => id ?? ""));
    },
    work(concurrency, handle) {
      const worker = new Worker<DeliveryData>(QUEUE_NAME, async ({ data }) => handle(data), {
        ...base,
        ...traced,
        concurrency,
        ...WORKER_TIMES,
        maxStalledCount: MAX_STALLED,
      });
      return deliveryWorker(worker, place, onError);
    },
    close() {
      limited.close();
      return queue.close();
    },
  };
}

/** A queue of its own, so that a probe takes no real job. */
const PROBE_NAME = "nightdesk-probe";

/** Adds a job, takes it and completes it. @throws the error of the queue's storage, or an error when no job comes back */
export const moveTestJob = (storage: QueueStorage): Promise<void> =>
  openWithBackend(storage, moveTestJobOn);

async function moveTestJobOn<Backend extends IQueueBackend, Connection>(
  factory: BackendFactory<Backend, Connection>,
  base: { connection: Connection; prefix?: string },
): Promise<void> {
  const { Queue, Worker } = bullmq.withBackend(factory);
  const queue = new Queue(PROBE_NAME, base);
  const worker = new Worker(PROBE_NAME, null, { ...base, autorun: false });
  let broken: Error | undefined;
  const onError = (error: Error): void => {
    broken ??= error;
  };
  queue.on("error", onError);
  worker.on("error", onError);
  try {
    const token = randomUUID();
    await queue.add("probe", {}, { removeOnComplete: true, removeOnFail: true });
    const job = await worker
      .getNextJob(token, { block: false })
      .then((next): typeof next | undefined => next);
    if (job === undefined) throw broken ?? new Error("it gave none back");
    await job.moveToCompleted(null, token, false);
  } finally {
    // Not awaited: the queue may not answer.
    void Promise.all([worker.close(true), queue.close()]).catch(() => undefined);
  }
}
