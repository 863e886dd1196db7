import { join } from "node:path";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import { Failure } from "../../shared/failure.ts";
import { assertQueueSchema } from "../../shared/store/queue-tables.ts";
import { RunAborted } from "../../shared/job/settlement.ts";
import type { Database, Queryable } from "../../shared/store/connection/database.ts";
import { assertMigrated, readMigrations, SCHEMA_CHANNEL } from "../../shared/store/migrate.ts";
import type { RunJob } from "../jobs/run-job.ts";
import type { Service } from "./supervisor.ts";

/** Gives the Failure SCHEMA_OUTDATED of a database whose schema is not this worker's; undefined when it is. */
export type SchemaCheck = (db: Queryable) => Promise<Failure | undefined>;

/** Compares with the migrations that are installed now: those of a newer version may take their place while it runs. */
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
  /** Never resolves. Rejects with Failure SCHEMA_OUTDATED when the schema has become another version's. */
  readonly outdated: Promise<never>;
};

/** Looks every 5 s, and when a migration says that it is done. While the database is away nobody knows. */
export function watchSchema(database: Database, check: SchemaCheck): SchemaWatch {
  let reject: (failure: Failure) => void = () => undefined;
  const outdated = new Promise<never>((_, fail) => {
    reject = fail;
  });
  // Heard by whoever waits for it, if somebody still does.
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

/** SQLSTATE class of tables, columns and functions that are not there, or not as the statement takes them to be. */
const MISFIT = /^42/;

/** A run that met a schema of another version writes nothing: its job is handed back when the worker signs off. */
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
 * The same of a result that can't be written: nothing else is settled in its place.
 * @returns `lost` where the schema is of another version
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
