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

// Its type lets the caller name the type of the rows, which only a cast can give.
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

/** Brings the database of an engine that nobody else can use yet to this version. */
export async function migrateAll(query: Query, folder: string): Promise<void> {
  // One error undoes all of them; what PostgreSQL then does is end with the process.
  await query("begin");
  await migrate({ query }, folder);
  await query("commit");
  await migrateQueue({ query } as QueueSession);
}

const packageSchema = z.object({ dependencies: z.record(z.string(), z.string()) });

/**
 * Where the build keeps the packed files of an empty database of this version: initdb and all migrations take seconds. The
 * name tells what the files depend on, so that those of another version are never taken.
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
