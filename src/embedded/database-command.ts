import path from "node:path";
import type { CommandHandler } from "../shared/commands/command.ts";
import { Failure } from "../shared/failure.ts";
import { createLogger } from "../shared/logger.ts";
import { migrateQueue } from "../shared/store/queue-tables.ts";
import { migrate } from "../shared/store/migrate.ts";
import { emptyDatabaseFile } from "./empty-database.ts";
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
    packed: await emptyDatabaseFile(packageRoot),
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
