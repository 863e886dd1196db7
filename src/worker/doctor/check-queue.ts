import type { Config } from "../../shared/config/schema.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { assertQueueSchema } from "../../shared/store/migrate.ts";
import { countAliveWorkers } from "../../shared/store/jobs/workers.ts";
import { Failure } from "../../shared/failure.ts";
import { probeQueue } from "../../shared/queue/storage.ts";
import { fail, ok, warn, wordsOf } from "./check.ts";
import type { Check } from "./check.ts";

/** Whether the queue answers, keeps what it is given, and is worked. */
export async function checkQueue(config: Config, database: Database): Promise<readonly Check[]> {
  const backend =
    config.queue.backend === "postgres"
      ? await checkTables(database)
      : await checkRedis(config.queue.redis_url);
  return [backend, await checkWorkers(config, database)];
}

/** A queue that was in Redis when `nightdesk migrate` was last run has no tables. */
async function checkTables(database: Database): Promise<Check> {
  try {
    await assertQueueSchema(database);
    return ok("DOCTOR_QUEUE_OK", "The queue is in Postgres.");
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "SCHEMA_OUTDATED") throw error;
    return fail(QUEUE_SCHEMA_OUTDATED, `${error.code}: ${error.message}`, "Run: nightdesk migrate");
  }
}

/** Stops every worker with SCHEMA_OUTDATED. */
export const QUEUE_SCHEMA_OUTDATED = "DOCTOR_QUEUE_SCHEMA_VERSION";

async function checkRedis(url: string): Promise<Check> {
  try {
    const { evictionPolicy } = await probeQueue(url);
    return evictionPolicy === "noeviction" || evictionPolicy === null
      ? ok("DOCTOR_QUEUE_OK", "Redis answers.")
      : warn(
          "DOCTOR_QUEUE_EVICTS",
          `Redis has maxmemory-policy ${evictionPolicy}: it may drop deliveries, which costs time and no job.`,
          "Set maxmemory-policy noeviction.",
        );
  } catch (error) {
    return fail(
      "DOCTOR_QUEUE_UNREACHABLE",
      wordsOf(error),
      "Start Redis, or change queue.redis_url or REDIS_URL.",
    );
  }
}

async function checkWorkers(config: Config, database: Database): Promise<Check> {
  const alive = await countAliveWorkers(database, null);
  if (alive > 0) return ok("DOCTOR_WORKERS_OK", `Workers alive: ${alive}.`);
  return config.database.url === "embedded"
    ? ok("DOCTOR_WORKERS_OK", "No worker is alive; a command that waits starts one.")
    : warn("DOCTOR_NO_WORKER", "No worker is alive: jobs wait.", "Run: nightdesk worker");
}
