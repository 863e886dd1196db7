import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { CommandContext } from "../shared/commands/command-context.ts";
import type { HookTarget } from "../shared/job/job.ts";
import { openQueue } from "../shared/queue/job-queue.ts";
import type { JobQueue } from "../shared/queue/job-queue.ts";
import { assertQueueSchema } from "../shared/store/queue-tables.ts";
import { probeQueue } from "../shared/queue/probe-queue.ts";
import type { QueueStorage } from "../shared/queue/storage.ts";
import { connectQueueDatabase, connectUnchecked } from "../shared/store/connection/connect.ts";
import { isDatabaseGone } from "../shared/store/connection/database.ts";
import type { Database } from "../shared/store/connection/database.ts";
import { selectDueInLane } from "../shared/store/jobs/dispatch.ts";
import { hasWork } from "../shared/store/jobs/waiting.ts";
import { assertSchemaCurrent } from "../shared/store/migrate.ts";
import type { InFlightRuns } from "./delivery/in-flight.ts";
import { backOff, retryOnDisconnect } from "./loop.ts";
import type { FaultLog } from "./loop.ts";

export type WorkerConnections = {
  readonly database: Database;
  /** The same database for leases and the heartbeat alone: runs that hold every other connection hold none of these. */
  readonly leaseDatabase: Database;
  readonly queue: JobQueue;
  /** Closes the queue and what it needs, but not the database. */
  closeQueue(): Promise<void>;
  closeDatabase(): Promise<void>;
};

/** Beside one connection a job: the listener and the loops. */
const SPARE_CONNECTIONS = 5;
/** The queue's own, beside one a job. */
const SPARE_OF_QUEUE = 7;
/** One for the leases and one for the heartbeat: neither waits for the other. */
const LEASE_CONNECTIONS = 2;

const WENT_AWAY = "the database or the queue was away while the worker started";

const isDraining = ({ invocation }: CommandContext): boolean =>
  invocation.options["drain"] === true;

/**
 * Runs a step of a start again while the database, which was there, or the queue is away: for as long as that takes, or for
 * a minute by a worker that ends when nothing is left to do.
 */
export async function whileStarting(
  context: CommandContext,
  faults: FaultLog,
  step: () => Promise<void>,
): Promise<void> {
  const delaysMs = isDraining(context) ? backOff(AWAY_MS) : backOff();
  await retryOnDisconnect(step, delaysMs, (error) => {
    faults.broke(WENT_AWAY, error);
  });
  faults.works(WENT_AWAY);
}

/** Waits for a queue that is away, as for a database that went away; who waits for the end of the work is told of Redis at once. */
async function awaitQueue(
  context: CommandContext,
  faults: FaultLog,
  storage: QueueStorage,
): Promise<void> {
  const probe = async () => {
    await probeQueue(storage);
  };
  const isTold = storage.backend === "redis" && isDraining(context);
  await (isTold ? probe() : whileStarting(context, faults, probe));
}

/**
 * Opens database and queue, with as many connections as jobs run at once and two for their leases. A database that has answered once and then goes
 * away is waited for, and so is Redis.
 * @throws Failure DATABASE_UNREACHABLE when it does not answer at first; QUEUE_UNREACHABLE where nobody waits for Redis;
 *   CONFIG_ERROR for a queue that can't be used; SCHEMA_OUTDATED, also when the queue is in Postgres and its tables are not
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
    onError,
  } as const;
  const database = connectUnchecked({
    ...options,
    maxConnections: concurrency + SPARE_CONNECTIONS,
  });
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
    config.queue.backend === "postgres"
      ? connectQueueDatabase({ ...options, maxConnections: concurrency + SPARE_OF_QUEUE })
      : undefined;
  const { redis_url: url, prefix } = config.queue;
  const storage: QueueStorage =
    queueDatabase === undefined
      ? { backend: "redis", url, prefix }
      : { backend: "postgres", database: queueDatabase };
  try {
    await awaitQueue(context, faults, storage);
  } catch (error) {
    await Promise.all([database.end(), queueDatabase?.end()]);
    throw error;
  }
  const leaseDatabase = connectUnchecked({
    ...options,
    maxConnections: LEASE_CONNECTIONS,
    keptConnections: LEASE_CONNECTIONS,
  }).within("lease");
  const queue = openQueue(storage, onError);
  return {
    database,
    leaseDatabase,
    queue,
    async closeQueue() {
      await queue.close();
      await queueDatabase?.end();
    },
    async closeDatabase() {
      await Promise.all([database.end(), leaseDatabase.end()]);
    },
  };
}

const LOOK_MS = 200;
/** Looks in a row that find nothing, so that a command that is about to queue more keeps its worker. */
const QUIET_LOOKS = 3;

/** To one who waits for the end of the work, a database that is away for longer will not be back by itself. */
const AWAY_MS = 60_000;

type IdleParts = {
  readonly database: Database;
  readonly runs: InFlightRuns;
  /** Whom the worker can tell of batches that have ended: it does before it is idle. */
  readonly hookTargets: () => readonly HookTarget[];
};

/**
 * Resolves when nothing was left for so long that a worker could do, or when the signal aborts. While the database is away
 * nobody knows: the worker waits for it as it would for a job.
 * @throws Failure DATABASE_UNREACHABLE when that takes more than a minute
 */
export async function waitUntilIdle(
  { database, runs, hookTargets }: IdleParts,
  signal: AbortSignal,
  lingerSeconds = 0,
): Promise<void> {
  let quiet = 0;
  let seenAt = performance.now();
  const quietLooks = Math.max(QUIET_LOOKS, (lingerSeconds * 1_000) / LOOK_MS);
  while (quiet < quietLooks && !signal.aborted) {
    const work = await lookForWork(database, hookTargets());
    if (typeof work === "boolean") seenAt = performance.now();
    else if (performance.now() - seenAt > AWAY_MS) throw work;
    quiet = runs.ids().length > 0 || work !== false ? 0 : quiet + 1;
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function lookForWork(
  database: Database,
  targets: readonly HookTarget[],
): Promise<boolean | Error> {
  try {
    if (await hasWork(database)) return true;
    return (await selectDueInLane(database, "notify", targets, 1)).length > 0;
  } catch (error) {
    if (error instanceof Error && isDatabaseGone(error)) return error;
    throw error;
  }
}
