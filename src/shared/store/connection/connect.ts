import { join } from "node:path";
import type { Config } from "../../config/schema.ts";
import { Failure } from "../../failure.ts";
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
  /** Called before the process of an embedded database is started. */
  readonly onStart?: (() => void) | undefined;
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

/** @throws Failure CONFIG_ERROR for the database of a queue whose sessions a pooler hands round: nobody can listen there */
export async function assertOwnSessions(queueDatabase: Database): Promise<void> {
  if (!(await queueDatabase.sharesSessions())) return;
  throw new Failure(
    "CONFIG_ERROR",
    "The database is reached through a pooler that hands sessions round, like PgBouncer with pool_mode transaction: the queue in " +
      "Postgres can't listen there. Set database.direct_url or DATABASE_DIRECT_URL to the server itself, or queue.backend to redis.",
  );
}

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
  const { url, direct_url } = config.database;
  const directUrl = direct_url ?? undefined;
  return openDatabase({
    target:
      config.database.url === "embedded"
        ? {
            kind: "embedded",
            ensure: sharedEnsure({
              directory,
              create,
              bin: join(packageRoot, "bin", "nightdesk.js"),
              onStart: options.onStart,
            }),
          }
        : {
            kind: "url",
            // The queue listens on each of its connections.
            url: use === "queue" ? (directUrl ?? url) : url,
            directUrl,
          },
    maxConnections: options.maxConnections ?? 4,
    keptConnections: options.keptConnections ?? 0,
    ...(use === "rows"
      ? { statements: "query" as const, settings: rowSettings(options) }
      : { statements: "claim" as const, settings: QUEUE_SETTINGS }),
    onError: options.onError,
  });
}
