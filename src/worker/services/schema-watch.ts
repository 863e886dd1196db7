import { join } from "node:path";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import { Failure } from "../../shared/failure.ts";
import { assertQueueSchema } from "../../shared/store/queue-tables.ts";
import { RunAborted } from "../../shared/job/settlement.ts";
import type { Database, Queryable } from "../../shared/store/connection/database.ts";
import { assertMigrated, readMigrations, SCHEMA_CHANNEL } from "../../shared/store/migrate.ts";
import type { RunJob } from "../jobs/run-job.ts";
import type { Service } from "./supervisor.ts";

/** Returns the Failure SCHEMA_OUTDATED if the database's schema is not this worker's; otherwise undefined. */
export type SchemaCheck = (db: Queryable) => Promise<Failure | undefined>;

/** Reads the installed migrations once, because a newer version may replace them while the worker runs. */
export async function createSchemaCheck({
  config,
  invocation,
}: CommandContext): Promise<SchemaCheck> {
  const migrations = await readMigrations(join(invocation.packageRoot, "migrations"));
  return async (db) => {
    try {
      await assertMigrated(db, migrations);
      if (config.queue.backend === "postgres") await assertQueueSchema(db);
      return undefined;
    } catch (error) {
      if (error instanceof Failure && error.code === "SCHEMA_OUTDATED") return error;
      throw error;
    }
  };
}

const LOOK_MS = 5_000;

export type SchemaWatch = {
  readonly service: Service;
  /** Never resolves. Rejects with Failure SCHEMA_OUTDATED when another version has changed the schema. */
  readonly outdated: Promise<never>;
};

/** Checks every 5 s, and when a migration notifies its end. While the database is unreachable nothing can be checked. */
export function watchSchema(database: Database, check: SchemaCheck): SchemaWatch {
  let reject: (failure: Failure) => void = () => undefined;
  const outdated = new Promise<never>((_, fail) => {
    reject = fail;
  });
  // Prevents an unhandled rejection if nobody waits for it any more.
  outdated.catch(() => undefined);
  const service: Service = {
    name: "schema",
    trouble: "the schema could not be compared with this version's",
    channels: [SCHEMA_CHANNEL],
    async run() {
      const failure = await check(database);
      if (failure !== undefined) reject(failure);
      return LOOK_MS;
    },
  };
  return { service, outdated };
}

/** SQLSTATE class of missing tables, columns and functions, and of those with another definition than expected. */
const MISFIT = /^42/;

/** A run that met the schema of another version writes nothing: its job is handed back when the worker signs off. */
export const handBackMisfits =
  (run: RunJob, database: Database, check: SchemaCheck): RunJob =>
  async (job, trace, signal) => {
    try {
      return await run(job, trace, signal);
    } catch (error) {
      if (await isOutdated(error, database, check)) throw new RunAborted("lease_lost");
      throw error;
    }
  };

/**
 * The same for a result that can't be written: no other result is stored instead.
 * @returns `lost` if the schema belongs to another version
 */
export async function settleUnlessOutdated(
  settle: () => Promise<"settled" | "lost">,
  database: Database,
  check: SchemaCheck,
): Promise<"settled" | "lost"> {
  try {
    return await settle();
  } catch (error) {
    if (await isOutdated(error, database, check)) return "lost";
    throw error;
  }
}

const isOutdated = async (
  error: unknown,
  database: Database,
  check: SchemaCheck,
): Promise<boolean> => isMisfit(error) && (await check(database)) !== undefined;

const isMisfit = (error: unknown): boolean =>
  typeof error === "object" &&
  error !== null &&
  "code" in error &&
  typeof error.code === "string" &&
  MISFIT.test(error.code);
