import { join } from "node:path";
import type { Config } from "../../config/schema.ts";
import { sharedEnsure } from "../embedded/embedded-process.ts";
import { assertSchemaCurrent } from "../migrate.ts";
import { openDatabase } from "./database.ts";
import type { Database } from "./database.ts";

type ConnectOptions = {
  readonly config: Config;
  readonly packageRoot: string;
  /** Whether the embedded database may be created; other databases exist. */
  readonly create: "create" | "must-exist";
  readonly maxConnections?: number;
  readonly keptConnections?: number;
  /** Kept by a server; the embedded database knows no such limit. */
  readonly statementTimeoutMs?: number;
  readonly onError: (error: unknown) => void;
};

/** Opens the database of the configuration and compares its schema with this version's. */
export async function connectDatabase(options: ConnectOptions): Promise<Database> {
  const database = openPool(options, "rows");
  try {
    await assertSchemaCurrent(database, join(options.packageRoot, "migrations"));
  } catch (error) {
    await database.end();
    throw error;
  }
  return database;
}

/** Opens the database as it is: for `migrate` and `doctor`. */
export const connectUnchecked = (options: ConnectOptions): Database => openPool(options, "rows");

/** A pool of its own for the queue, whose functions look up their names in schema bullmq first. */
export const connectQueueDatabase = (options: ConnectOptions): Database =>
  openPool(options, "queue");

/**
 * The queue's functions look up their names there. What a crash takes from the queue, the rows bring back: none of its
 * commits is waited for.
 */
const QUEUE_SETTINGS = { search_path: "bullmq,public", synchronous_commit: "off" };

const rowSettings = ({ statementTimeoutMs }: ConnectOptions): Readonly<Record<string, string>> =>
  statementTimeoutMs === undefined
    ? {}
    : { statement_timeout: String(Math.round(statementTimeoutMs)) };

function openPool(options: ConnectOptions, use: "rows" | "queue"): Database {
  const { config, packageRoot, create } = options;
  const directory = config.roots.databaseDirectory;
  return openDatabase({
    target:
      config.database.url === "embedded"
        ? {
            kind: "embedded",
            ensure: sharedEnsure({
              directory,
              create,
              bin: join(packageRoot, "bin", "nightdesk.js"),
            }),
          }
        : { kind: "url", url: config.database.url },
    maxConnections: options.maxConnections ?? 4,
    keptConnections: options.keptConnections ?? 0,
    ...(use === "rows"
      ? { statements: "query" as const, settings: rowSettings(options) }
      : { statements: "claim" as const, settings: QUEUE_SETTINGS }),
    onError: options.onError,
  });
}
