import { endsInTime } from "../ends-in-time.ts";
import { Failure } from "../failure.ts";
import { assertOwnSessions } from "../store/connection/connect.ts";
import { isDatabaseGone } from "../store/connection/database.ts";
import { isStorageFault, storageFaultOf } from "../store/connection/errors.ts";
import { moveTestJob } from "./job-queue.ts";
import { placeOf } from "./storage.ts";
import type { QueueStorage } from "./storage.ts";

const TIMEOUT_MS = 3_000;
/** Limit to move a job, once the server has answered. */
const MOVE_MS = 5_000;

/**
 * Checks that a queue is usable by moving one job through it: a server that answers may still refuse a command, keep part of the
 * keys on another node, or share its sessions among clients.
 * @param timeoutMs limit for the connection to Redis, and for each answer
 * @returns the eviction policy of Redis; null when the server does not report it, and for a queue in Postgres
 * @throws Failure QUEUE_UNREACHABLE after that time, or at once when the connection is refused; CONFIG_ERROR when the queue can't
 * be used with this setup; the database's fault when it does not answer or is read-only
 */
export async function probeQueue(
  storage: QueueStorage,
  timeoutMs = TIMEOUT_MS,
): Promise<{ readonly evictionPolicy: string | null }> {
  const evictionPolicy = storage.backend === "redis" ? await askRedis(storage, timeoutMs) : null;
  if (storage.backend === "postgres") await assertOwnSessions(storage.database);
  const moving = moveTestJob(storage);
  try {
    if (!(await endsInTime(moving, MOVE_MS))) throw new Error(`no job within ${MOVE_MS / 1_000} s`);
    await moving;
  } catch (cause) {
    throw faultOf(cause, storage);
  }
  return { evictionPolicy };
}

async function askRedis(
  storage: Extract<QueueStorage, { backend: "redis" }>,
  timeoutMs: number,
): Promise<string | null> {
  const { Redis } = await import("ioredis");
  const redis = new Redis(storage.url, {
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  // After a refused login connect() rejects only with the end of the connection.
  let reply: Error | undefined;
  redis.on("error", (error) => (reply ??= error));
  try {
    await redis.connect();
    const found = await redis.config("GET", "maxmemory-policy").catch(() => []);
    const [, policy] = Array.isArray(found) ? found.map(String) : [];
    return policy ?? null;
  } catch (cause) {
    const why = reply?.message ?? "";
    const says = /NOAUTH|WRONGPASS/.test(why)
      ? `refuses the login (${why}). Check the user and the password in queue.redis_url or REDIS_URL.`
      : "does not answer. Start it, or set queue.redis_url or REDIS_URL.";
    throw new Failure("QUEUE_UNREACHABLE", `${placeOf(storage)} ${says}`, { cause });
  } finally {
    redis.disconnect();
  }
}

function faultOf(cause: unknown, storage: QueueStorage): unknown {
  if (storage.backend === "postgres" && (isStorageFault(cause) || isDatabaseGone(cause))) {
    return storageFaultOf(cause) ?? cause;
  }
  const why = cause instanceof Error ? cause.message : String(cause);
  const remedy = remedyFor(why);
  const words = `${placeOf(storage)} moves no job (${why}).`;
  return remedy === undefined
    ? new Failure("QUEUE_UNREACHABLE", `${words} Look at its log.`, { cause })
    : new Failure("CONFIG_ERROR", `${words} ${remedy}`, { cause });
}

/** What to change, by the error of a server that answers and refuses; undefined when it may recover by itself. */
function remedyFor(why: string): string | undefined {
  if (why.includes("NOPERM")) {
    return "Give its user all commands on the keys of queue.prefix, INFO as well: ACL SETUSER name ~* +@all";
  }
  if (/MOVED|CROSSSLOT|CLUSTERDOWN/.test(why)) {
    return "It is a node of a cluster: set queue.redis_url to the node that has the keys of queue.prefix, or to a Redis that is none.";
  }
  return undefined;
}
