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
  /** Whether a missing embedded database is created; no other database ever is. */
  readonly create: "create" | "must-exist";
  readonly maxConnections?: number;
  readonly keptConnections?: number;
  /** Enforced by a server; the embedded database has no such limit. */
  readonly statementTimeoutMs?: number;
  readonly onError: (error: unknown) => void;
  /** Called before the process of an embedded database starts. */
  readonly onStart?: (() => void) | undefined;
};

/** Opens the configured database and checks that its schema is that of this version. */
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

/** Opens the database without a check of its schema, for `migrate` and `doctor`. */
export const connectUnchecked = (options: ConnectOptions): Database => openPool(options, "rows");

/** Opens a separate pool for the queue, whose search path begins with schema bullmq. */
export const connectQueueDatabase = (options: ConnectOptions): Database =>
  openPool(options, "queue");

/** @throws Failure CONFIG_ERROR when a pooler shares the sessions of the queue's database: LISTEN does not work there */
export async function assertOwnSessions(queueDatabase: Database): Promise<void> {
  if (!(await queueDatabase.sharesSessions())) return;
  throw new Failure(
    "CONFIG_ERROR",
    "The database is reached through a pooler that hands sessions round, like PgBouncer with pool_mode transaction: the queue in " +
      "Postgres can't listen there. Set database.direct_url or DATABASE_DIRECT_URL to the server itself, or queue.backend to redis.",
  );
}

/**
 * The queue's SQL functions resolve names by this search path. Commits do not wait for the disk: what the queue loses in a crash
 * is restored from the rows.
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
            // The queue uses LISTEN on each of its connections, which a pooler may break.
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
