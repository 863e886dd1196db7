import { statfs } from "node:fs/promises";
import type { CommandContext } from "../../shared/command-context.ts";
import type { Database } from "../../shared/db/database.ts";
import { countAliveWorkers } from "../../shared/db/jobs/workers.ts";
import { probeWrites } from "../../shared/db/probe-writes.ts";
import { Failure } from "../../shared/failure.ts";
import type { ErrorCode } from "../../shared/failure.ts";
import { probeQueue } from "../../shared/queue-probe.ts";

/** What keeps work from being done that no row of it tells. */
export type Obstacle = {
  readonly what: "no_queue" | "no_worker" | "database_read_only" | "disk_full";
  readonly code: ErrorCode | null;
  /** One line: what it is, and what to do. */
  readonly message: string;
};

/** Looks for whoever can stop the night: the database, its disk, the queue and the workers. */
export async function findObstacles(
  context: CommandContext,
  database: Database,
): Promise<readonly Obstacle[]> {
  const looks = await Promise.all([
    lookAtDatabase(database),
    lookAtDisk(context),
    lookAtQueue(context),
    lookForWorkers(context, database),
  ]);
  return looks.filter((obstacle) => obstacle !== undefined);
}

async function lookAtDatabase(database: Database): Promise<Obstacle | undefined> {
  const failure = await probeWrites(database);
  if (failure === undefined) return undefined;
  const { code, message } = failure;
  return code === "DISK_FULL"
    ? { what: "disk_full", code, message: `disk full: ${message}` }
    : { what: "database_read_only", code, message: `database read-only: ${message}` };
}

/** With less the embedded database can't write a page of each of its files. */
const LEAST_BYTES = 1024 * 1024;

async function lookAtDisk({ config }: CommandContext): Promise<Obstacle | undefined> {
  if (config.database.url !== "embedded") return undefined;
  const { databaseDirectory } = config.roots;
  const { bavail, bsize } = await statfs(databaseDirectory);
  if (bavail * bsize >= LEAST_BYTES) return undefined;
  const message = `disk full: free some space for ${databaseDirectory}; the work goes on by itself`;
  return { what: "disk_full", code: "DISK_FULL", message };
}

const QUEUE_WITHIN_MS = 1_000;

async function lookAtQueue(context: CommandContext): Promise<Obstacle | undefined> {
  const failure = await findQueueFault(context);
  return failure === undefined
    ? undefined
    : { what: "no_queue", code: failure.code, message: `no queue: ${failure.message}` };
}

/** The Failure QUEUE_UNREACHABLE of a queue in Redis that does not answer; a queue in Postgres is where the rows are. */
export async function findQueueFault({
  config: { queue },
}: CommandContext): Promise<Failure | undefined> {
  if (queue.backend !== "redis") return undefined;
  try {
    await probeQueue(queue.redis_url, QUEUE_WITHIN_MS);
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

async function lookForWorkers(
  { config }: CommandContext,
  database: Database,
): Promise<Obstacle | undefined> {
  if ((await countAliveWorkers(database, null)) > 0) return undefined;
  const remedy =
    config.database.url === "embedded"
      ? "nightdesk batch wait starts one, and so does: nightdesk up"
      : "start one with: nightdesk worker";
  return { what: "no_worker", code: null, message: `no worker alive: ${remedy}` };
}
