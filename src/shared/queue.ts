import { withBackend } from "bullmq";
import type { BackendFactory, IQueueBackend } from "bullmq";
import { deliveryWorker, openOn, WORKER_TIMES } from "./queue-storage.ts";
import type { DeliveryWorker, QueueStorage } from "./queue-storage.ts";

/** A delivery carries ids and nothing that a user needs: the rows are the truth. */
export type Delivery = {
  readonly jobId: string;
  readonly dispatch: number;
  /** Work that somebody waits for goes before what is in the queue already. */
  readonly place: "front" | "back";
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

const QUEUE_NAME = "nightdesk";
/** A redelivery that finds a live lease ends without effect, so it may come as often as it likes. 4 bytes in Postgres. */
const MAX_STALLED = 1_000_000_000;

export const deliveryId = (jobId: string, dispatch: number): string => `${jobId}-${dispatch}`;

/** Opens the queue on its storage. @param onError told of connection errors, which BullMQ repairs by itself */
export const openQueue = (storage: QueueStorage, onError: (error: unknown) => void): JobQueue =>
  openOn(storage, (factory, base) => bind(factory, base, onError));

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
        ...WORKER_TIMES,
        maxStalledCount: MAX_STALLED,
      });
      return deliveryWorker(worker, onError);
    },
    close: () => queue.close(),
  };
}
