import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import type * as BullMq from "bullmq";
import type { BackendFactory, IQueueBackend, WorkerOptions } from "bullmq";
import type { Database } from "../store/connection/database.ts";
import { endsInTime } from "../ends-in-time.ts";
import { Failure } from "../failure.ts";

/** BullMQ, by `require`: an `import` first scans its 200 files for exported names, which takes as long as loading them. */
export const bullmq = createRequire(import.meta.url)("bullmq") as typeof BullMq;

/** Where the queue is stored: in Redis, or in the Postgres that holds the rows. */
export type QueueStorage =
  | { readonly backend: "redis"; readonly url: string; readonly prefix: string }
  | { readonly backend: "postgres"; readonly database: Database };

export type DeliveryWorker = {
  /**
   * Resolves when the worker takes deliveries.
   * @throws Failure QUEUE_UNREACHABLE when the queue does not answer; the error of BullMQ when it can't be used
   */
  ready(): Promise<void>;
  /** Takes no new delivery, and resolves when the running handlers have ended. */
  close(): Promise<void>;
};

/** Opens a queue on any backend of BullMQ. */
type Bind<Queue> = <Backend extends IQueueBackend, Connection>(
  factory: BackendFactory<Backend, Connection>,
  base: { connection: Connection; prefix?: string },
) => Queue;

export function openWithBackend<Queue>(storage: QueueStorage, bind: Bind<Queue>): Queue {
  switch (storage.backend) {
    case "postgres":
      return bind(bullmq.createPostgresBackend, { connection: queuePool(storage.database) });
    case "redis":
      return bind(bullmq.createRedisBackend, {
        connection: {
          url: storage.url,
          maxRetriesPerRequest: null,
          keepAlive: KEEP_ALIVE_MS,
          socketTimeout: SILENT_MS,
        },
        // The braces put all keys into one slot of a Redis cluster.
        prefix: `{${storage.prefix}}`,
      });
  }
}

const KEEP_ALIVE_MS = 5_000;
/**
 * A connection without an answer for this long is closed, and its commands are sent again over a new one. A worker that waits for
 * work receives nothing for at most 10 s.
 */
const SILENT_MS = 12_000;

/** The place of a queue for messages, without its password. */
export function placeOf(storage: QueueStorage): string {
  if (storage.backend === "postgres") return "The queue in the database";
  const { hostname, port } = new URL(storage.url);
  return `Redis at ${hostname}:${port || "6379"}`;
}

type PostgresConnection = NonNullable<
  Parameters<typeof bullmq.createPostgresBackend>[1]["connection"]
>;

/** BullMQ accepts the driver's pool, but the overloads of its methods do not match BullMQ's looser type. */
const queuePool = (database: Database): PostgresConnection =>
  database.pool as unknown as PostgresConnection;

/** Times of every BullMQ worker. */
export const WORKER_TIMES = {
  // As long as the lease of a job, which alone decides who may write a result.
  lockDuration: 15_000,
  stalledInterval: 5_000,
  // After a broken connection; BullMQ's default of 15 s would leave the worker idle.
  runRetryDelay: 1_000,
} as const satisfies Partial<WorkerOptions>;

/**
 * After an error that is not a connection error, such as a missing table, BullMQ asks for the next delivery again at once:
 * millions of times in half a minute, so that the process handles no signal.
 */
const AFTER_ERROR_MS = 1_000;

type BullWorker = {
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
  on(event: "error", listener: (error: Error) => void): unknown;
};

/** @param onError receives connection errors, from which BullMQ recovers by itself */
export function deliveryWorker(
  worker: BullWorker,
  place: string,
  onError: (error: unknown) => void,
): DeliveryWorker {
  worker.on("error", onError);
  restAfterErrors(worker);
  return {
    async ready() {
      const isReady = worker.waitUntilReady();
      if (!(await endsInTime(isReady, QUEUE_LIMIT_MS))) throw unreachable(place, QUEUE_LIMIT_MS);
      await isReady;
    },
    close: () => worker.close(),
  };
}

function restAfterErrors(worker: object): void {
  const next: unknown = Reflect.get(worker, NEXT_DELIVERY);
  if (typeof next !== "function") {
    throw new Error(`this version of BullMQ has no Worker.${NEXT_DELIVERY}`);
  }
  const nextAfterRest = async (...args: unknown[]): Promise<unknown> => {
    try {
      return await (Reflect.apply(next, worker, args) as Promise<unknown>);
    } catch (error) {
      await sleep(AFTER_ERROR_MS);
      throw error;
    }
  };
  Reflect.set(worker, NEXT_DELIVERY, nextAfterRest);
}

/** A private method of BullMQ, and the only place between an error and the next try. */
const NEXT_DELIVERY = "_getNextJob";

/** A queue that works answers a command within milliseconds. */
const QUEUE_LIMIT_MS = 10_000;
/** Interval of probes whether a queue that did not answer is back. */
const PROBE_MS = 30_000;

type LimitedQueue = {
  /**
   * Runs a command within the limit. While one is overdue, no other is sent: BullMQ buffers unsent commands, and a night without
   * Redis would fill the memory.
   * @throws Failure QUEUE_UNREACHABLE; the command's error
   */
  run<T>(command: () => Promise<T>): Promise<T>;
  /** @throws Failure QUEUE_UNREACHABLE while a command is overdue */
  check(): void;
  close(): void;
};

/**
 * @param place of the queue, for messages
 * @param probe a read-only command that succeeds when the queue answers again
 */
export function limitQueue(
  place: string,
  probe: () => Promise<unknown>,
  limitMs = QUEUE_LIMIT_MS,
): LimitedQueue {
  const overdue = new Set<Promise<unknown>>();
  let probing: NodeJS.Timeout | undefined;
  const settle = (answer: Promise<unknown>) => {
    overdue.delete(answer);
    if (overdue.size > 0) return;
    clearInterval(probing);
    probing = undefined;
  };
  const wait = (answer: Promise<unknown>) => {
    overdue.add(answer);
    const settled = () => {
      settle(answer);
    };
    answer.then(settled, settled);
    // An answer may be lost with its connection, so a later answer counts for it.
    probing ??= setInterval(() => {
      probe().then(
        () => {
          for (const lost of overdue) settle(lost);
        },
        () => undefined,
      );
    }, PROBE_MS).unref();
  };
  const check = () => {
    if (overdue.size > 0) throw unreachable(place, limitMs);
  };
  return {
    async run(command) {
      check();
      const answer = command();
      if (await endsInTime(answer, limitMs)) return answer;
      wait(answer);
      throw unreachable(place, limitMs);
    },
    check,
    close() {
      clearInterval(probing);
    },
  };
}

const unreachable = (place: string, limitMs: number): Failure =>
  new Failure(
    "QUEUE_UNREACHABLE",
    `${place} does not answer within ${limitMs / 1_000} s. Start it, or set queue.redis_url or REDIS_URL.`,
  );

export const isQueueAway = (error: unknown): boolean =>
  error instanceof Failure && error.code === "QUEUE_UNREACHABLE";
