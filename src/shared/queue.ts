import { createPostgresBackend, createRedisBackend, ErrorCode, withBackend } from "bullmq";
import type { BackendFactory, IQueueBackend } from "bullmq";
import { readCron } from "./cron-times.ts";
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
const TICKS_NAME = "nightdesk-ticks";
/** The same 15 s as our lease, which alone decides who may write a result. */
const LOCK_MS = 15_000;
const STALLED_CHECK_MS = 5_000;
/** After a broken connection; BullMQ's own 15 s would leave the worker idle. */
const FETCH_RETRY_MS = 1_000;
/** A redelivery that finds a live lease ends without effect, so it may come as often as it likes. 4 bytes in Postgres. */
const MAX_STALLED = 1_000_000_000;

export const deliveryId = (jobId: string, dispatch: number): string => `${jobId}-${dispatch}`;

/** When a scheduler ticks next: a tick tells that the planned time has come, and the rows decide what that means. */
export type Scheduler = {
  readonly name: string;
  readonly cron: string;
  /** IANA name. */
  readonly timezone: string;
};

export type Tick = { readonly schedule: string; readonly plannedAt: Date };

/** The clockwork of schedules. What it holds may be lost: it is put there again from the rows. */
export type TickQueue = {
  /** What is scheduled, each with its next tick. */
  schedulers(): Promise<readonly (Scheduler & { readonly next: Date | null })[]>;
  /** Puts a scheduler there, or replaces it. Its next tick is counted from now. */
  upsertScheduler(scheduler: Scheduler): Promise<void>;
  removeScheduler(name: string): Promise<void>;
  /** Of any number of listeners one hears each tick; one that throws hears it again, a few times. */
  listen(onTick: (tick: Tick) => Promise<void>): DeliveryWorker;
  close(): Promise<void>;
};

/** Opens the queue on its storage. @param onError told of connection errors, which BullMQ repairs by itself */
export function openQueue(storage: QueueStorage, onError: (error: unknown) => void): JobQueue {
  switch (storage.backend) {
    case "postgres":
      return bind(createPostgresBackend, postgresBase(storage), onError);
    case "redis":
      return bind(createRedisBackend, redisBase(storage), onError);
  }
}

/** Opens the queue of ticks on the same storage. They are apart from the jobs: those are counted. */
export function openTicks(storage: QueueStorage, onError: (error: unknown) => void): TickQueue {
  switch (storage.backend) {
    case "postgres":
      return bindTicks(createPostgresBackend, postgresBase(storage), onError);
    case "redis":
      return bindTicks(createRedisBackend, redisBase(storage), onError);
  }
}

const postgresBase = ({ database }: Extract<QueueStorage, { backend: "postgres" }>) => ({
  connection: queuePool(database),
});

const redisBase = ({ url, prefix }: Extract<QueueStorage, { backend: "redis" }>) => ({
  connection: { url, maxRetriesPerRequest: null },
  prefix,
});

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

type TickData = { readonly schedule: string };

/** A tick that met a database that was away is heard again. */
const TICK_TRIES = { attempts: 5, backoff: { type: "fixed", delay: 5_000 } } as const;

function bindTicks<Backend extends IQueueBackend, Connection>(
  factory: BackendFactory<Backend, Connection>,
  base: { connection: Connection; prefix?: string },
  onError: (error: unknown) => void,
): TickQueue {
  const { Queue, Worker } = withBackend(factory);
  const opened = { ...base, settings: { repeatStrategy: nextTick } };
  const queue = new Queue<TickData>(TICKS_NAME, opened);
  queue.on("error", onError);
  return {
    async schedulers() {
      const known = await queue.getJobSchedulers(0, -1, true);
      return known.map(({ key, pattern = "", tz = "", next }) => ({
        name: key,
        cron: pattern,
        timezone: tz,
        next: next === undefined ? null : new Date(next),
      }));
    },
    async upsertScheduler({ name, cron, timezone }) {
      const template = {
        name: "tick",
        data: { schedule: name },
        opts: { ...TICK_TRIES, removeOnComplete: true, removeOnFail: true },
      };
      await queue
        .upsertJobScheduler(name, { pattern: cron, tz: timezone }, template)
        .catch((error: unknown) => {
          // Somebody else is at it, or the tick outlived its scheduler: it comes, and the next look puts the scheduler.
          if (!isTickThere(error)) throw error;
        });
    },
    async removeScheduler(name) {
      await queue.removeJobScheduler(name);
    },
    listen(onTick) {
      const worker = new Worker<TickData>(
        TICKS_NAME,
        async ({ data, opts, timestamp, delay }) =>
          onTick({
            schedule: data.schedule,
            plannedAt: new Date(opts.prevMillis ?? timestamp + delay),
          }),
        {
          ...opened,
          lockDuration: LOCK_MS,
          stalledInterval: STALLED_CHECK_MS,
          runRetryDelay: FETCH_RETRY_MS,
        },
      );
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

const isTickThere = (error: unknown): boolean =>
  typeof error === "object" &&
  error !== null &&
  "code" in error &&
  error.code === ErrorCode.SchedulerJobIdCollision;

/** BullMQ's own leaves out what a change of the clock leaves out. */
function nextTick(
  after: number,
  { pattern = "", tz = "UTC" }: { readonly pattern?: string; readonly tz?: string },
): number | undefined {
  const read = readCron(pattern, tz);
  return read.ok ? read.times.next(new Date(after)).getTime() : undefined;
}
