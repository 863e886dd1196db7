import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import type { CommandHandler } from "../shared/commands/command.ts";
import { Failure } from "../shared/failure.ts";
import { createLogger } from "../shared/logger.ts";
import { migrateQueue } from "../shared/store/queue-tables.ts";
import { migrate, readMigrations } from "../shared/store/migrate.ts";
import { INITDB_ARGS } from "./initdb-args.ts";
import { runDatabase } from "./run-database.ts";
import type { Query } from "./run-database.ts";

// A cast, because the type lets the caller choose the type of rows, which no implementation can satisfy.
type QueueSession = Parameters<typeof migrateQueue>[0];

const IDLE_SECONDS = 30;

/** `nightdesk database --directory DIR` */
export const database: CommandHandler = async ({ options, packageRoot }) => {
  const { directory } = options;
  if (typeof directory !== "string") {
    throw new Failure("USAGE_ERROR", "nightdesk database needs --directory <folder>.");
  }
  const logger = createLogger("info", "json");
  return runDatabase({
    directory: path.resolve(directory),
    idleSeconds: IDLE_SECONDS,
    packed: () => emptyDatabaseFile(packageRoot),
    log: (level, message, fields) => {
      logger[level](fields ?? {}, message);
    },
    migrate: (query) => migrateAll(query, path.join(packageRoot, "migrations")),
  });
};

/** Migrates the database of an engine that has no clients yet. */
export async function migrateAll(query: Query, folder: string): Promise<void> {
  // One error rolls back all migrations: PostgreSQL does so when the process ends.
  await query("begin");
  await migrate({ query }, folder);
  await query("commit");
  await migrateQueue({ query } as QueueSession);
}

const packageSchema = z.object({ dependencies: z.record(z.string(), z.string()) });

/**
 * The file in which the build stores an empty database of this version: initdb and all migrations take seconds. Its name is a
 * hash of what the content depends on, so that a file of another version is never used.
 */
export async function emptyDatabaseFile(packageRoot: string): Promise<string> {
  const hash = createHash("sha256");
  const text = await readFile(path.join(packageRoot, "package.json"), "utf8");
  const { dependencies } = packageSchema.parse(JSON.parse(text));
  for (const name of ["@electric-sql/pglite", "@electric-sql/pglite-pgvector", "bullmq"])
    hash.update(`${name} ${dependencies[name]}\n`);
  hash.update(`${INITDB_ARGS.join(" ")}\n`);
  for (const { name, sha256 } of await readMigrations(path.join(packageRoot, "migrations")))
    hash.update(`${name} ${sha256}\n`);
  return path.join(packageRoot, "dist", `empty-database-${hash.digest("hex").slice(0, 16)}.tar.gz`);
}
