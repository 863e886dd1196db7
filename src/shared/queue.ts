import { createPostgresBackend, createRedisBackend, withBackend } from "bullmq";
import type { BackendFactory, IQueueBackend } from "bullmq";
import type { Database } from "./db/database.ts";

/** A delivery carries ids and nothing that a user needs: the rows are the truth. */
export type Delivery = {
  readonly jobId: string;
  readonly dispatch: number;
  /** Work that somebody waits for goes before what is in the queue already. */
  readonly place: "front" | "back";
};

export type DeliveryWorker = {
  /** Resolves when deliveries are taken; rejects when the queue can't be used. */
  ready(): Promise<void>;
  /** Takes no new delivery, and resolves when the handlers in hand have ended. */
  close(): Promise<void>;
};

/** The two ends of the queue. BullMQ and its storage stay behind this type. */
export type JobQueue = {
  /** A delivery that is still in the queue is not added a second time. */
  add(deliveries: readonly Delivery[]): Promise<void>;
  /** How many deliveries wait. */
  countWaiting(): Promise<number>;
  /** Ids (`<job id>-<dispatch>`) of all deliveries that wait or are in hand. */
  deliveryIds(): Promise<ReadonlySet<string>>;
  work(
    concurrency: number,
    handle: (delivery: { jobId: string; dispatch: number }) => Promise<void>,
  ): DeliveryWorker;
  close(): Promise<void>;
};

export type QueueStorage =
  | { readonly backend: "redis"; readonly url: string; readonly prefix: string }
  | { readonly backend: "postgres"; readonly database: Database };

const QUEUE_NAME = "nightdesk";
/** The same 15 s as our lease, which alone decides who may write a result. */
const LOCK_MS = 15_000;
const STALLED_CHECK_MS = 5_000;
/** After a broken connection; BullMQ's own 15 s would leave the worker idle. */
const FETCH_RETRY_MS = 1_000;
/** A redelivery that finds a live lease ends without effect, so it may come as often as it likes. 4 bytes in Postgres. */
const MAX_STALLED = 1_000_000_000;

export const deliveryId = (jobId: string, dispatch: number): string => `${jobId}-${dispatch}`;

/** Opens the queue on its storage. @param onError told of connection errors, which BullMQ repairs by itself */
export function openQueue(storage: QueueStorage, onError: (error: unknown) => void): JobQueue {
  switch (storage.backend) {
    case "postgres":
      return bind(createPostgresBackend, { connection: queuePool(storage.database) }, onError);
    case "redis":
      return bind(
        createRedisBackend,
        {
          connection: { url: storage.url, maxRetriesPerRequest: null },
          prefix: storage.prefix,
        },
        onError,
      );
  }
}

type PostgresConnection = NonNullable<Parameters<typeof createPostgresBackend>[1]["connection"]>;

/** BullMQ takes the driver's pool, and describes it by a looser type that overloads do not fit. */
const queuePool = (database: Database): PostgresConnection =>
  database.pool as unknown as PostgresConnection;

type DeliveryData = { readonly jobId: string; readonly dispatch: number };

function bind<Backend extends IQueueBackend, Connection>(
  factory: BackendFactory<Backend, Connection>,
  base: { connection: Connection; prefix?: string },
  onError: (error: unknown) => void,
): JobQueue {
  const { Queue, Worker } = withBackend(factory);
  const queue = new Queue<DeliveryData>(QUEUE_NAME, {
    ...base,
    defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
  });
  queue.on("error", onError);
  return {
    async add(deliveries) {
      await queue.addBulk(
        deliveries.map(({ jobId, dispatch, place }) => ({
          name: "run",
          data: { jobId, dispatch },
          opts: { jobId: deliveryId(jobId, dispatch), lifo: place === "front" },
        })),
      );
    },
    async countWaiting() {
      return queue.getJobCountByTypes("waiting", "prioritized", "delayed");
    },
    async deliveryIds() {
      const jobs = await queue.getJobs(["waiting", "active", "prioritized", "delayed"]);
      return new Set(jobs.map(({ id }) => id ?? ""));
    },
    work(concurrency, handle) {
      const worker = new Worker<DeliveryData>(QUEUE_NAME, async ({ data }) => handle(data), {
        ...base,
        concurrency,
        lockDuration: LOCK_MS,
        stalledInterval: STALLED_CHECK_MS,
        maxStalledCount: MAX_STALLED,
        runRetryDelay: FETCH_RETRY_MS,
      });
      worker.on("error", onError);
      return {
        async ready() {
          await worker.waitUntilReady();
        },
        close: () => worker.close(),
      };
    },
    close: () => queue.close(),
  };
}
