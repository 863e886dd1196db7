import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import {
  loadConfigFor,
  openContext,
  openTerminalOf,
  withDatabase,
} from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { showConfig } from "../../shared/config/show-config.ts";
import { connectUnchecked } from "../../shared/store/connection/connect.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { DUPLICATE_FILE, hasCode } from "../../shared/store/connection/errors.ts";
import { assertEncoding, migrate, schemaStatus } from "../../shared/store/migrate.ts";
import type { SchemaStatus } from "../../shared/store/migrate.ts";
import { Failure } from "../../shared/failure.ts";
import { argumentOf } from "./options.ts";

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
    if (!isStatus && config.database.url !== "embedded") await assertEncoding(database);
    await (isStatus ? printStatus(context, database) : applyMigrations(context, database));
  } finally {
    await database.end();
  }
};

async function applyMigrations(context: CommandContext, database: Database): Promise<void> {
  const { terminal } = context;
  // An embedded database migrates when it starts, so only one that a process of another build still runs needs it here.
  const applied = [
    ...(await database.within("build").transaction((db) => migrate(db, migrationsOf(context)))),
    ...(await migrateQueueTables(context, database)),
  ];
  if (terminal.isJson) await terminal.printJson({ ok: true, applied });
  else if (applied.length === 0)
    terminal.say("The database is at this version's schema; nothing to do.");
  else for (const name of applied) await terminal.print(`applied ${name}`);
}

const migrationsOf = ({ invocation }: CommandContext): string =>
  join(invocation.packageRoot, "migrations");

/** @returns the names of the created tables, for the output */
async function migrateQueueTables(
  context: CommandContext,
  database: Database,
): Promise<readonly string[]> {
  const pending = await pendingQueueTables(context, database);
  if (pending.length === 0) return [];
  const { migrateQueue } = await import("../../shared/store/queue-tables.ts");
  const session = await database.pool.connect();
  try {
    await migrateQueue(session);
  } finally {
    session.release();
  }
  return pending;
}

/** Empty if the queue is in Redis. */
async function pendingQueueTables(
  { config }: CommandContext,
  database: Database,
): Promise<readonly string[]> {
  if (config.queue.backend !== "postgres") return [];
  const { queueSchemaStatus, QUEUE_SCHEMA_NAME } =
    await import("../../shared/store/queue-tables.ts");
  return (await queueSchemaStatus(database)) === "current" ? [] : [QUEUE_SCHEMA_NAME];
}

async function printStatus(context: CommandContext, database: Database): Promise<void> {
  const { terminal } = context;
  const { applied, pending } = await schemaStatus(database, migrationsOf(context));
  const status = {
    applied,
    pending: [...pending, ...(await pendingQueueTables(context, database))],
  };
  if (terminal.isJson) await terminal.printJson({ ok: true, ...status });
  else for (const line of formatStatus(status)) await terminal.print(line);
}

const formatStatus = ({ applied, pending }: SchemaStatus): readonly string[] => [
  ...applied.map((name) => `applied  ${name}`),
  ...pending.map((name) => `pending  ${name}`),
];

export const backup: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { config, terminal } = context;
  const file = resolve(invocation.cwd, argumentOf(invocation));
  if (config.database.url !== "embedded") {
    throw new Failure(
      "INPUT_INVALID",
      "Only the embedded database writes its own dump. For a server use its tool: " +
        `pg_dump --format=custom --file=${quoteForShell(file)} "$DATABASE_URL"`,
    );
  }
  // Checked before the database is copied for the dump.
  if (!existsSync(dirname(file))) {
    throw new Failure(
      "INPUT_INVALID",
      `${dirname(file)} is no folder that can be reached. Make it, or name a file elsewhere.`,
    );
  }
  return withDatabase(context, "must-exist", async (database) => {
    // This is no SQL: the embedded database process interprets it itself.
    const replace = invocation.options["force"] === true ? "replace " : "";
    await database
      .within("backup")
      .query(`nightdesk backup ${replace}'${file.replaceAll("'", "''")}'`)
      .catch((error: unknown) => {
        throw notDumped(error, file);
      });
    if (terminal.isJson) await terminal.printJson({ ok: true, file });
    else await terminal.print(file);
    terminal.say(
      `Dumped the database. To put it back: nightdesk restore --force ${quoteForShell(file)}`,
    );
  });
};

function notDumped(error: unknown, file: string): unknown {
  if (error instanceof Failure) return error;
  if (hasCode(error, DUPLICATE_FILE)) {
    return new Failure(
      "INPUT_INVALID",
      `${file} is there already. Give --force to replace it, or name another file.`,
    );
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new Failure("INPUT_INVALID", `There is no dump in ${file}: ${reason}`);
}

const quoteForShell = (text: string): string =>
  /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

export const configShow: CommandHandler = async (invocation) => {
  const config = await loadConfigFor(invocation);
  const terminal = openTerminalOf(invocation);
  const values = showConfig(config);
  if (terminal.isJson)
    return terminal.printJson({
      file: config.file,
      chosen: config.chosen,
      roots: config.roots,
      values,
    });
  for (const { key, value, origin } of values) {
    await terminal.print(`${key}: ${JSON.stringify(value)}  # ${origin}`);
  }
  await terminal.print(`# configuration: ${config.file} (${config.chosen})`);
  await terminal.print(`# work root: ${config.roots.workroot}`);
  await terminal.print(`# embedded database: ${config.roots.databaseDirectory}`);
};
