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
  /** The same database, only for leases and the heartbeat: runs can occupy all other connections, but not these. */
  readonly leaseDatabase: Database;
  readonly queue: JobQueue;
  /** Closes the queue and what it needs, but not the database. */
  closeQueue(): Promise<void>;
  closeDatabase(): Promise<void>;
};

/** Connections beside one per job: for the listener and the services. */
const SPARE_CONNECTIONS = 5;
/** Connections of the queue beside one per job. */
const SPARE_OF_QUEUE = 7;
/** One for the leases and one for the heartbeat, so that neither waits for the other. */
const LEASE_CONNECTIONS = 2;

const WENT_AWAY = "the database or the queue was away while the worker started";

const isDraining = ({ invocation }: CommandContext): boolean =>
  invocation.options["drain"] === true;

/**
 * Repeats a step of the start while the database, which has answered before, or the queue is unreachable: without limit, or
 * for a minute with `--drain`.
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

/** Waits for an unreachable queue like for a database; but with `--drain` an unreachable Redis fails at once. */
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
 * Opens database and queue, with one connection per concurrent job and two for leases. If the database has answered once and
 * then becomes unreachable, the worker waits for it, and so it does for Redis.
 * @throws Failure DATABASE_UNREACHABLE if the first query fails; QUEUE_UNREACHABLE for Redis with `--drain`; CONFIG_ERROR for
 *   an unusable queue; SCHEMA_OUTDATED, also for missing queue tables in Postgres
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
    // Fails at once, because a wrong address is a mistake of the user.
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
/** Consecutive checks without work that end a worker, so that a command that is about to queue more keeps it. */
const QUIET_LOOKS = 3;

/** For `--drain`: a database that is unreachable for longer will not come back by itself. */
const AWAY_MS = 60_000;

type IdleParts = {
  readonly database: Database;
  readonly runs: InFlightRuns;
  /** The hook targets that the worker serves: it calls them before it counts as idle. */
  readonly hookTargets: () => readonly HookTarget[];
};

/**
 * Resolves when there has been no work for a while, or when the signal aborts. While the database is unreachable the state is
 * unknown, and the worker waits.
 * @throws Failure DATABASE_UNREACHABLE after a minute
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
