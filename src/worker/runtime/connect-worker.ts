import type { CommandContext } from "../../shared/command-context.ts";
import { connectDatabase, connectQueueDatabase } from "../../shared/db/connect.ts";
import type { Database } from "../../shared/db/database.ts";
import { assertQueueSchema } from "../../shared/db/migrate-queue.ts";
import { openQueue } from "../../shared/queue.ts";
import { openTicks } from "../../shared/tick-queue.ts";
import type { JobQueue } from "../../shared/queue.ts";
import type { QueueStorage } from "../../shared/queue-storage.ts";
import type { TickQueue } from "../../shared/tick-queue.ts";
import type { FaultLog } from "./fault-log.ts";

export type WorkerConnections = {
  readonly database: Database;
  readonly queue: JobQueue;
  /** The clockwork of schedules, on the same storage. */
  openTicks(): TickQueue;
  /** Closes the queue and what it needs, but not the database. */
  closeQueue(): Promise<void>;
};

/** Beside one connection a job: the listeners, the loops, and the queue's own. */
const SPARE_CONNECTIONS = 7;

/**
 * Opens database and queue, with as many connections as jobs run at once.
 * @throws Failure SCHEMA_OUTDATED, also when the queue is in Postgres and its tables are not
 */
export async function connectWorker(
  { config, invocation }: CommandContext,
  concurrency: number,
  faults: FaultLog,
): Promise<WorkerConnections> {
  const onError = (err: unknown) => {
    faults.broke("a connection to the queue or the database broke", err);
  };
  const options = {
    config,
    packageRoot: invocation.packageRoot,
    create: "create",
    maxConnections: concurrency + SPARE_CONNECTIONS,
    onError,
  } as const;
  const database = await connectDatabase(options);
  if (config.queue.backend === "postgres") {
    await assertQueueSchema(database).catch(async (error: unknown) => {
      await database.end();
      throw error;
    });
  }
  const queueDatabase =
    config.queue.backend === "postgres" ? connectQueueDatabase(options) : undefined;
  const { redis_url: url, prefix } = config.queue;
  const storage: QueueStorage =
    queueDatabase === undefined
      ? { backend: "redis", url, prefix }
      : { backend: "postgres", database: queueDatabase };
  const queue = openQueue(storage, onError);
  return {
    database,
    queue,
    openTicks: () => openTicks(storage, onError),
    async closeQueue() {
      await queue.close();
      await queueDatabase?.end();
    },
  };
}
