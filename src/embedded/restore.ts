import { existsSync, rmSync } from "node:fs";
import { mkdir, rename, rm, rmdir, stat } from "node:fs/promises";
import path from "node:path";
import { syncFolder } from "../shared/files/atomic-file.ts";
import type { Existing } from "../shared/files/atomic-file.ts";
import { openContext } from "../shared/commands/command-context.ts";
import type { CommandContext } from "../shared/commands/command-context.ts";
import type { CommandHandler } from "../shared/commands/command.ts";
import { EXIT, exitCodeOf, printFailure } from "../shared/commands/report-failure.ts";
import { connectUnchecked } from "../shared/store/connection/connect.ts";
import { lockDirectory } from "../shared/store/embedded/embedded-directory.ts";
import { stopEmbedded } from "../shared/store/embedded/embedded-process.ts";
import { hasCode } from "../shared/store/connection/errors.ts";
import { countAliveWorkers } from "../shared/store/jobs/workers.ts";
import { Failure } from "../shared/failure.ts";
import { migrateAll } from "./database-command.ts";
import { dataPath, openPglite, restoredPath, shellWord, unpackedPath } from "./open-database.ts";
import type { Query } from "./run-database.ts";
import { unpackFile } from "./tar.ts";

type RestoreOptions = {
  /** Absolute; created if missing. */
  readonly directory: string;
  /** A tar of a data directory, with or without gzip. */
  readonly file: string;
  /** What happens to an existing database: `replace` keeps its data beside it, as `pgdata.replaced-<UTC time>`. */
  readonly existing: Existing;
  /** Runs on the restored database before it replaces the old one; its error refuses the dump. */
  readonly migrate: (query: Query) => Promise<void>;
  /** Called with the problem of the dump if PostgreSQL has ended over it. Must end the process. */
  readonly onDeath: (failure: Failure) => never;
};

/**
 * Replaces the database of a directory by a dump. It first unpacks, opens and migrates the dump beside it; if that fails, it
 * removes it and changes nothing. If the process is killed, the next start removes the folder.
 * @throws Failure NOT_FOUND without the file; INPUT_INVALID if a database exists that is to be kept, or is in use, or the file
 * is no dump that opens; the error of `migrate`
 */
export async function restoreDump(
  options: RestoreOptions,
): Promise<{ readonly archived: string | undefined }> {
  const { directory, file } = options;
  if (!existsSync(file)) throw new Failure("NOT_FOUND", `There is no file ${file} to restore.`);
  refuseToReplace(options);
  const made = await mkdir(directory, { recursive: true, mode: 0o700 });
  try {
    const lock = await lockDirectory(directory);
    if (lock === "held") throw inUseFailure(directory);
    try {
      refuseToReplace(options);
      await testDump(options);
      return { archived: await putInPlace(directory) };
    } finally {
      await rm(unpackedPath(directory), { recursive: true, force: true });
      lock.release();
    }
  } catch (error) {
    if (made !== undefined) await removeFolders(directory, made);
    throw error;
  }
}

function refuseToReplace({ directory, existing }: RestoreOptions): void {
  if (existing === "replace" || !existsSync(dataPath(directory))) return;
  throw new Failure(
    "INPUT_INVALID",
    `There is a database in ${directory} already. Give --force to put the dump in its place; its data is then kept beside ` +
      "it as pgdata.replaced-<time>.",
  );
}

const inUseFailure = (directory: string): Failure =>
  new Failure(
    "INPUT_INVALID",
    `The database in ${directory} is in use. Stop its workers and commands, and try again. Nothing was changed.`,
  );

/** Unpacks the dump, and tests whether this version can use it. */
async function testDump({ directory, file, migrate, onDeath }: RestoreOptions): Promise<void> {
  const unpacked = unpackedPath(directory);
  const refuse = (cause: unknown): Failure => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new Failure(
      "INPUT_INVALID",
      `The file ${file} is not a dump that opens: ${reason}. Nothing was changed; restore another one.`,
      { cause },
    );
  };
  await unpack(file, unpacked).catch((error: unknown) => {
    throw isDiskError(error) ? error : refuse(error);
  });
  const engine = await openPglite({
    dataDirectory: unpacked,
    onDeath: (reason) => {
      rmSync(unpacked, { recursive: true, force: true });
      return onDeath(refuse(new Error(reason)));
    },
  }).catch((error: unknown) => {
    throw refuse(error);
  });
  try {
    await engine.query("set search_path to public");
    await migrate((sql, values) => engine.query(sql, values));
  } finally {
    await engine.close();
  }
}

const isDiskError = (error: unknown): boolean =>
  ["ENOSPC", "EDQUOT", "EACCES", "EROFS"].some((code) => hasCode(error, code));

async function unpack(file: string, folder: string): Promise<void> {
  await unpackFile(file, folder);
  // Without it PGlite would create a new database there.
  await stat(path.join(folder, "PG_VERSION")).catch(() => {
    throw new Error("PG_VERSION is missing");
  });
}

/** @returns the folder of the previous data */
async function putInPlace(directory: string): Promise<string | undefined> {
  const restored = restoredPath(directory);
  await rm(restored, { recursive: true, force: true });
  await rename(unpackedPath(directory), restored);
  const archived = await archiveData(directory);
  await rename(restored, dataPath(directory));
  await syncFolder(directory);
  return archived;
}

async function archiveData(directory: string): Promise<string | undefined> {
  const data = dataPath(directory);
  if (!existsSync(data)) return undefined;
  const time = new Date().toISOString().replace(/[-:.]/g, "");
  const archived = path.join(directory, `pgdata.replaced-${time}`);
  await rename(data, archived);
  return archived;
}

/** Removes the folders that this process created, from the innermost up to `first`, until one is not empty. */
async function removeFolders(directory: string, first: string): Promise<void> {
  await rm(path.join(directory, "lock"), { force: true });
  for (let folder = directory; folder.length >= first.length; folder = path.dirname(folder)) {
    const isGone = await rmdir(folder).then(
      () => true,
      () => false,
    );
    if (!isGone) return;
  }
}

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
    if (database.url !== "embedded") throw serverFailure(file);
    const existing = options["force"] === true ? "replace" : "keep";
    if (existing === "replace") await stopUnlessUsed(context);
    const { archived } = await restoreDump({
      directory: roots.databaseDirectory,
      file,
      existing,
      migrate: (query) => migrateDump(query, file, path.join(packageRoot, "migrations")),
      onDeath: (failure) => process.exit(fail(failure)),
    });
    await printResult(context, file, archived);
    return EXIT.ok;
  } catch (error) {
    // An open engine keeps the process running: main.ts ends it with this status.
    return fail(error);
  }
};

const serverFailure = (file: string): Failure =>
  new Failure(
    "INPUT_INVALID",
    "Only a dump of the embedded database is restored by nightdesk. For a server use its tool, into an empty database: " +
      `pg_restore --no-owner --dbname="$DATABASE_URL" ${shellWord(file)}`,
  );

/** Stops a database process that still runs for a while after its last client. */
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

async function printResult(
  { invocation, config, terminal }: CommandContext,
  file: string,
  archived: string | undefined,
): Promise<void> {
  const { databaseDirectory: directory } = config.roots;
  if (invocation.options["json"] === true) {
    await terminal.printJson({ ok: true, file, directory, set_aside: archived ?? null });
    return;
  }
  await terminal.print(`Restored ${file} into ${directory}.`);
  if (archived !== undefined) {
    terminal.say(`The data that was there is kept. To delete it: rm -r ${shellWord(archived)}`);
  }
}
