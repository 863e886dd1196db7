import { existsSync } from "node:fs";
import path from "node:path";
import { openContext } from "../shared/command-context.ts";
import type { CommandContext } from "../shared/command-context.ts";
import type { CommandHandler } from "../shared/commands/command.ts";
import { EXIT, exitCodeOf, printFailure } from "../shared/commands/report-failure.ts";
import { connectUnchecked } from "../shared/db/connect.ts";
import { lockDirectory } from "../shared/db/directory-lock.ts";
import { stopEmbedded } from "../shared/db/embedded-process.ts";
import { countAliveWorkers } from "../shared/db/jobs/workers.ts";
import { Failure } from "../shared/failure.ts";
import { migrateAll } from "./database-command.ts";
import { shellWord } from "./describe-broken.ts";
import { dataPath } from "./open-directory.ts";
import { restoreDump } from "./restore.ts";
import type { Query } from "./run-database.ts";

/** `nightdesk restore FILE [--force]` */
export const restore: CommandHandler = async (invocation) => {
  const { options, args, cwd, packageRoot } = invocation;
  const form = { json: options["json"] === true, stack: options["debug"] === true };
  const fail = (error: unknown): number => {
    printFailure(error, form);
    return exitCodeOf(error);
  };
  try {
    const context = await openContext(invocation);
    const { roots, database } = context.config;
    const file = path.resolve(cwd, args[0] ?? "");
    if (database.url !== "embedded") throw forServer(file);
    const existing = options["force"] === true ? "replace" : "keep";
    if (existing === "replace") await stopUnlessUsed(context);
    const { setAside } = await restoreDump({
      directory: roots.databaseDirectory,
      file,
      existing,
      migrate: (query) => migrateDump(query, file, path.join(packageRoot, "migrations")),
      onDeath: (failure) => process.exit(fail(failure)),
    });
    await print(context, file, setAside);
    return EXIT.ok;
  } catch (error) {
    // An engine that was opened would keep the process for ever: main.ts ends it with this status.
    return fail(error);
  }
};

const forServer = (file: string): Failure =>
  new Failure(
    "INPUT_INVALID",
    "Only a dump of the embedded database is restored by nightdesk. For a server use its tool, into an empty database: " +
      `pg_restore --no-owner --dbname="$DATABASE_URL" ${shellWord(file)}`,
  );

/** Ends a database process that goes on for a while after its last client. */
async function stopUnlessUsed(context: CommandContext): Promise<void> {
  const { databaseDirectory } = context.config.roots;
  if (!existsSync(dataPath(databaseDirectory))) return;
  const lock = await lockDirectory(databaseDirectory);
  if (lock !== "held") {
    lock.release();
    return;
  }
  const workers = await countWorkers(context);
  if (workers > 0) {
    throw new Failure(
      "INPUT_INVALID",
      `${workers === 1 ? "1 worker works" : `${workers} workers work`} on the database in ${databaseDirectory}. Stop ` +
        "nightdesk up and nightdesk worker, and try again; one that was killed counts for 15 s. Nothing was changed.",
    );
  }
  await stopEmbedded(databaseDirectory);
}

async function countWorkers(context: CommandContext): Promise<number> {
  const database = connectUnchecked({
    config: context.config,
    packageRoot: context.invocation.packageRoot,
    create: "must-exist",
    onError: (err) => {
      context.logger.warn({ err }, "idle database connection lost");
    },
  });
  try {
    return await countAliveWorkers(database, null);
  } finally {
    await database.end();
  }
}

async function migrateDump(query: Query, file: string, migrations: string): Promise<void> {
  const { rows } = await query("select to_regclass('nightdesk_migrations.applied') as applied");
  if (rows[0]?.["applied"] === null) {
    throw new Failure("INPUT_INVALID", `The file ${file} holds no database of nightdesk.`);
  }
  await migrateAll(query, migrations).catch((error: unknown) => {
    if (!(error instanceof Failure) || error.code !== "SCHEMA_OUTDATED") throw error;
    throw new Failure("SCHEMA_OUTDATED", `${file} can't be restored. ${error.message}`);
  });
}

async function print(
  { invocation, config, terminal }: CommandContext,
  file: string,
  setAside: string | undefined,
): Promise<void> {
  const { databaseDirectory: directory } = config.roots;
  if (invocation.options["json"] === true) {
    await terminal.printJson({ ok: true, file, directory, set_aside: setAside ?? null });
    return;
  }
  await terminal.print(`Restored ${file} into ${directory}.`);
  if (setAside !== undefined) {
    terminal.say(`The data that was there is kept. To delete it: rm -r ${shellWord(setAside)}`);
  }
}
