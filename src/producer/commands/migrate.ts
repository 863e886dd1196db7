import { join } from "node:path";
import { openContext } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { connectUnchecked } from "../../shared/db/connect.ts";
import type { Database } from "../../shared/db/database.ts";
import { migrate, schemaStatus } from "../../shared/db/migrate.ts";
import type { SchemaStatus } from "../../shared/db/migrate.ts";

export const migrateSchema: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { config } = context;
  const isStatus = invocation.options["status"] === true;
  const database = connectUnchecked({
    config,
    packageRoot: invocation.packageRoot,
    create: isStatus ? "must-exist" : "create",
    maxConnections: 1,
    onError: (err) => {
      context.logger.warn({ err }, "idle database connection lost");
    },
  });
  try {
    return isStatus
      ? await printStatus(context, database)
      : await applyMigrations(context, database);
  } finally {
    await database.end();
  }
};

async function applyMigrations(context: CommandContext, database: Database): Promise<number> {
  const { invocation, terminal } = context;
  const isEmbedded = context.config.database.url === "embedded";
  // It is made by whoever connects first, and migrates before it listens: then there is nothing to do.
  if (isEmbedded) await database.query("select 1");
  const applied = isEmbedded
    ? []
    : [
        ...(await database.within("build").transaction((db) => migrate(db, migrationsOf(context)))),
        ...(await migrateQueueTables(context, database)),
      ];
  if (invocation.options["json"] === true) await terminal.printJson({ ok: true, applied });
  else if (applied.length === 0)
    terminal.say("The database is at this version's schema; nothing to do.");
  else for (const name of applied) await terminal.print(`applied ${name}`);
  return EXIT.ok;
}

const migrationsOf = ({ invocation }: CommandContext): string =>
  join(invocation.packageRoot, "migrations");

/** @returns what was made, to be told */
async function migrateQueueTables(
  context: CommandContext,
  database: Database,
): Promise<readonly string[]> {
  const pending = await pendingQueueTables(context, database);
  if (pending.length === 0) return [];
  const { migrateQueue } = await import("../../shared/db/migrate-queue.ts");
  const session = await database.pool.connect();
  try {
    await migrateQueue(session);
  } finally {
    session.release();
  }
  return pending;
}

/** Nothing where the queue is in Redis. */
async function pendingQueueTables(
  { config }: CommandContext,
  database: Database,
): Promise<readonly string[]> {
  if (config.queue.backend !== "postgres") return [];
  const { queueSchemaStatus, QUEUE_SCHEMA_NAME } = await import("../../shared/db/migrate-queue.ts");
  return (await queueSchemaStatus(database)) === "current" ? [] : [QUEUE_SCHEMA_NAME];
}

async function printStatus(context: CommandContext, database: Database): Promise<number> {
  const { invocation, terminal } = context;
  const { applied, pending } = await schemaStatus(database, migrationsOf(context));
  const status = {
    applied,
    pending: [...pending, ...(await pendingQueueTables(context, database))],
  };
  if (invocation.options["json"] === true) await terminal.printJson({ ok: true, ...status });
  else for (const line of describeStatus(status)) await terminal.print(line);
  return EXIT.ok;
}

const describeStatus = ({ applied, pending }: SchemaStatus): readonly string[] => [
  ...applied.map((name) => `applied  ${name}`),
  ...pending.map((name) => `pending  ${name}`),
];
