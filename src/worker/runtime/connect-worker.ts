import { join } from "node:path";
import type { CommandContext } from "../../shared/command-context.ts";
import { connectQueueDatabase, connectUnchecked } from "../../shared/store/connection/connect.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { assertQueueSchema, assertSchemaCurrent } from "../../shared/store/migrate.ts";
import { openQueue } from "../../shared/queue/job-queue.ts";
import type { JobQueue } from "../../shared/queue/job-queue.ts";
import { openTicks } from "../../shared/queue/tick-queue.ts";
import type { TickQueue } from "../../shared/queue/tick-queue.ts";
import type { QueueStorage } from "../../shared/queue/storage.ts";
import type { FaultLog } from "./fault-log.ts";
import { AWAY_MS } from "./wait-until-idle.ts";
import { backOff, whenReachable } from "./when-reachable.ts";

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

const WENT_AWAY = "the database went away while the worker started";

/**
 * Runs a step of a start again while the database, which was there, is away: for as long as that takes, or for a minute
 * by a worker that ends when nothing is left to do.
 */
export async function whileStarting(
  { invocation }: CommandContext,
  faults: FaultLog,
  step: () => Promise<void>,
): Promise<void> {
  const delaysMs = invocation.options["drain"] === true ? backOff(AWAY_MS) : backOff();
  await whenReachable(step, delaysMs, (error) => {
    faults.broke(WENT_AWAY, error);
  });
  faults.works(WENT_AWAY);
}

/**
 * Opens database and queue, with as many connections as jobs run at once. A database that has answered once and then goes
 * away is waited for.
 * @throws Failure DATABASE_UNREACHABLE when it does not answer at first; SCHEMA_OUTDATED, also when the queue is in Postgres
 *   and its tables are not
 */
export async function connectWorker(
  context: CommandContext,
  concurrency: number,
  faults: FaultLog,
): Promise<WorkerConnections> {
  const { config, invocation } = context;
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
  const database = connectUnchecked(options);
  try {
    // A wrong address is a mistake, and told at once.
    await database.query("select 1");
    await whileStarting(context, faults, async () => {
      await assertSchemaCurrent(database, join(invocation.packageRoot, "migrations"));
      if (config.queue.backend === "postgres") await assertQueueSchema(database);
    });
  } catch (error) {
    await database.end();
    throw error;
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
