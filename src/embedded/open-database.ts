import { accessSync, chmodSync, constants, existsSync, lstatSync, readdirSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { setFlagsFromString } from "node:v8";
import { createGzip } from "node:zlib";
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { createAtomicFile } from "../shared/files/atomic-file.ts";
import type { Existing } from "../shared/files/atomic-file.ts";
import { hasCode, SAYS_DISK_FULL } from "../shared/store/connection/errors.ts";
import { Failure } from "../shared/failure.ts";
import { INITDB_ARGS } from "./initdb-args.ts";
import { packFolder, unpackFile } from "./tar.ts";

type OnDeath = (reason: string) => never;

export const dataPath = (directory: string): string => path.join(directory, "pgdata");

/** The folder of a dump while it is unpacked and tested. */
export const unpackedPath = (directory: string): string =>
  path.join(directory, "pgdata.restored.partial");

/** A restored data directory that is about to replace the broken one. */
export const restoredPath = (directory: string): string => path.join(directory, "pgdata.restored");

/** Returns the file with an empty database. Called only if a database has to be created; without the file, initdb creates it. */
export type PackedFiles = () => Promise<string>;

/**
 * Opens the database of a directory, and creates it if there is none.
 * @throws Failure DATABASE_UNREACHABLE with what is broken and how to restore it
 */
export async function openDirectory(
  directory: string,
  onDeath: OnDeath,
  packed?: PackedFiles,
): Promise<Engine> {
  const dataDirectory = dataPath(directory);
  await removeLeftOvers(directory);
  // A restore was interrupted between its last two steps.
  if (!existsSync(dataDirectory) && existsSync(restoredPath(directory))) {
    await rename(restoredPath(directory), dataDirectory);
  }
  if (!existsSync(dataDirectory)) await createDatabase(directory, onDeath, await packed?.());
  try {
    if (!readdirSync(dataDirectory).includes("PG_VERSION"))
      throw new Error("PG_VERSION is missing");
    return await openPglite({
      dataDirectory,
      onDeath: (reason) => onDeath(formatBroken(directory, reason)),
    });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Failure("DATABASE_UNREACHABLE", formatBroken(directory, reason), { cause });
  }
}

/** Removes what a killed process left behind. The caller holds the lock. */
async function removeLeftOvers(directory: string): Promise<void> {
  const isLeftOver = (name: string) =>
    isDataCopy(name) ||
    name === path.basename(unpackedPath(directory)) ||
    (name === path.basename(restoredPath(directory)) && existsSync(dataPath(directory)));
  for (const name of readdirSync(directory).filter(isLeftOver))
    await rm(path.join(directory, name), { recursive: true, force: true });
}

/** Creates a data directory under another name, so that a half-made one is never opened. */
async function makeData(options: EngineOptions): Promise<void> {
  await rm(options.dataDirectory, { recursive: true, force: true });
  const engine = await openPglite(options);
  await engine.close();
}

async function createDatabase(directory: string, onDeath: OnDeath, packed?: string): Promise<void> {
  const dataDirectory = path.join(directory, "pgdata.new");
  if (packed === undefined || !existsSync(packed)) await makeData({ dataDirectory, onDeath });
  else await unpackFile(packed, dataDirectory);
  await rename(dataDirectory, dataPath(directory));
}

type Rows = { rows: Record<string, unknown>[]; rowCount: number | null };

/** The only PostgreSQL session on its data directory. */
export type Engine = {
  /** Runs complete protocol messages and returns the server's reply. */
  run(messages: Buffer): Promise<Buffer>;
  /**
   * Runs one statement with values, or several without; the rows are those of the last. Only before the first `run`: later,
   * PGlite passes the replies to that.
   */
  query(sql: string, values?: readonly unknown[]): Promise<Rows>;
  close(): Promise<void>;
};

type EngineOptions = {
  readonly dataDirectory: string;
  /** Called, before anything else runs, when PostgreSQL has ended inside PGlite. Must end the process. */
  readonly onDeath: (reason: string) => never;
};

const SETTINGS = [
  // The value that RESET ALL and DISCARD ALL restore.
  "search_path=nightdesk, bullmq, public",
  // WebAssembly's memory never shrinks. With 128 MB the process holds 60 to 80 MiB more and is no faster with an index of 71 MB;
  // with 32 MB storing vectors with their index takes 1.4 times as long.
  "shared_buffers=64MB",
  // Deletes WAL after a checkpoint. Recycled, it would take 80 MB of disk and half of a dump.
  "wal_recycle=off",
  // The limits as for segments of 16 MB: initdb sets them to 64 segments, which have 1 MB here.
  "max_wal_size=1GB",
  "min_wal_size=80MB",
];

// The line prefix keeps the text of a statement, which PostgreSQL logs on lines of its own, from matching.
const END = /^\S+ \S+ \S+ \[\d+\] (?:FATAL|PANIC): +(.*)/;

// An engine that has ended logs the same line for each further call, in an endless loop.
const MAX_ENDS_WHILE_OPENING = 10;

/**
 * Opens a data directory, or creates one.
 * @throws Error with PostgreSQL's reason if it does not open
 */
export async function openPglite(options: EngineOptions): Promise<Engine> {
  const reasons: string[] = [];
  let isOpen = false;
  const onStderr = (line: string) => {
    const reason = END.exec(line)?.[1];
    if (reason !== undefined) reasons.push(reason);
    if (reasons.length > (isOpen ? 0 : MAX_ENDS_WHILE_OPENING)) options.onDeath(reasons[0] ?? line);
    return false;
  };
  try {
    assertAccess(options.dataDirectory);
    const db = await createPglite(options, onStderr);
    isOpen = true;
    restrictAccess(options.dataDirectory);
    return engineOn(db, options.dataDirectory);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Error(reasons[0] ?? message, { cause });
  }
}

/** In V8's unit, roughly executed bytes. The default of Node 20 is 1.8 million. */
const WASM_TIERING_BUDGET = 400_000_000;

/**
 * Delays V8's optimizing compiler until a WebAssembly function that is loaded from now on is really hot. By default it takes as
 * much time as PostgreSQL itself while a database opens, and most commands end before that pays off.
 */
export function optimizeLater(): void {
  setFlagsFromString(`--wasm-tiering-budget=${WASM_TIERING_BUDGET}`);
}

function createPglite(
  { dataDirectory }: EngineOptions,
  onStderr: (line: string) => boolean,
): Promise<PGlite> {
  optimizeLater();
  return PGlite.create({
    dataDir: dataDirectory,
    extensions: { vector },
    initDbStartParams: [...INITDB_ARGS],
    startParams: [...PGlite.defaultStartParams, ...SETTINGS.flatMap((setting) => ["-c", setting])],
    onStderr,
  });
}

/** @throws EACCES for a file of another user, as after one start with sudo: PostgreSQL calls it an error in its settings */
function assertAccess(dataDirectory: string): void {
  if (!existsSync(dataDirectory)) return;
  for (const name of readdirSync(dataDirectory, { recursive: true, encoding: "utf8" })) {
    const file = path.join(dataDirectory, name);
    if (lstatSync(file).uid !== process.geteuid?.())
      accessSync(file, constants.R_OK | constants.W_OK);
  }
}

/**
 * Makes folders 0700 and files 0600. PGlite sets some files to 0644 when it opens and when it closes, and a copy or a dump may
 * have opened others.
 */
function restrictAccess(dataDirectory: string): void {
  const below = readdirSync(dataDirectory, { recursive: true, encoding: "utf8" });
  for (const name of ["", ...below]) {
    const file = path.join(dataDirectory, name);
    const found = lstatSync(file);
    if (found.isSymbolicLink() || (found.mode & 0o077) === 0) continue;
    chmodSync(file, found.isDirectory() ? 0o700 : 0o600);
  }
}

const engineOn = (db: PGlite, dataDirectory: string): Engine => ({
  run: async (messages) => {
    const chunks: Uint8Array[] = [];
    // Not execProtocolRaw: it keeps a parsed copy of every reply for the life of the process.
    await db.execProtocolRawStream(messages, {
      // A copy, because the next call overwrites PostgreSQL's memory.
      onRawData: (chunk) => chunks.push(chunk.slice()),
    });
    return Buffer.concat(chunks);
  },
  query: async (sql, values) => {
    const result =
      values === undefined
        ? (await db.exec(sql)).at(-1)
        : await db.query<Record<string, unknown>>(sql, [...values]);
    return { rows: result?.rows ?? [], rowCount: result?.affectedRows ?? null };
  },
  async close() {
    await db.close();
    restrictAccess(dataDirectory);
  },
});

/** Node's message for a missing file of PGlite, while packages are being installed. */
const SAYS_PACKAGE_MISSING = /^Cannot find (?:module|package) /;

/** Messages of Node and PostgreSQL for files of another user, as after one start with sudo. */
const SAYS_DENIED = /\bE(?:ACCES|PERM)\b|permission denied/i;

const UNBROKEN = "Nothing is broken, and nothing has to be restored.";

/**
 * The message for a data directory that does not open: the reason, the existing dumps, and the command that restores one. A full
 * disk, files of another user and a missing package have broken nothing.
 */
export function formatBroken(directory: string, reason: string): string {
  const data = `The data directory ${dataPath(directory)}`;
  if (SAYS_DISK_FULL.test(reason))
    return `The disk is full. ${data} can't be written: ${reason}. Free some space there. ${UNBROKEN}`;
  if (SAYS_DENIED.test(reason))
    return `${data} is closed to this user: ${reason}. Give this user all files in it (chown -R). ${UNBROKEN}`;
  if (SAYS_PACKAGE_MISSING.test(reason))
    return `A package that it needs is not there: ${reason}. Wait for an installation that runs, or run: npm ci. ${UNBROKEN}`;
  const dumps = findDumps(directory);
  const restore = (file: string) => `nightdesk restore --force ${file}`;
  const [newest] = dumps;
  const remedy =
    newest === undefined
      ? "There are no dumps in its folder backups. Restore a file that nightdesk backup wrote with: " +
        restore("FILE")
      : `Dumps, newest first: ${dumps.join(", ")}. Restore one with: ${restore(shellWord(newest))}`;
  return `${data} does not open: ${reason}. ${remedy}`;
}

function findDumps(directory: string): string[] {
  const folder = path.join(directory, "backups");
  try {
    return dumpsAmong(readdirSync(folder)).map((name) => path.join(folder, name));
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}

export const shellWord = (word: string): string =>
  /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

const KEPT_CHECKPOINTS = 2;
const DUMP = /^\d{8}T\d{9}Z\.tar\.gz$/;

const COPY_PREFIX = ".pgdata-copy-";

/** Whether a folder is a copy by `copyData` that a killed process left behind. */
const isDataCopy = (name: string): boolean => /^\.pgdata-copy-\w{6}$/.test(name);

/**
 * Copies a data directory that is not written meanwhile to a new folder beside it, which the caller removes. The copy shares
 * blocks with the original if the file system supports it.
 */
export async function copyData(data: string): Promise<string> {
  const copy = await mkdtemp(path.join(path.dirname(data), COPY_PREFIX));
  try {
    await cp(data, copy, { recursive: true, mode: constants.COPYFILE_FICLONE });
    return copy;
  } catch (error) {
    await rm(copy, { recursive: true, force: true });
    throw error;
  }
}

/** Each end of a batch writes a dump: zlib's default, 6, takes twice the time and saves a tenth. */
const GZIP_LEVEL = 3;

/**
 * Writes a data directory as a compressed tar. `file` is at any time either the old file or the complete dump. Memory does not
 * grow with the data.
 * @throws the system's error, EEXIST if an existing file is to be kept
 */
export async function writeDump(data: string, file: string, existing: Existing): Promise<void> {
  const dump = await createAtomicFile(file, existing);
  try {
    await pipeline(
      packFolder(data),
      createGzip({ level: GZIP_LEVEL }),
      (pieces: AsyncIterable<Buffer>) => writeFile(dump.handle, pieces),
    );
    await dump.commit();
  } finally {
    await dump.discard();
  }
}

/** Writes a dump into `<directory>/backups`, where it keeps the last two. */
export async function writeCheckpoint(data: string, directory: string): Promise<void> {
  const folder = path.join(directory, "backups");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const name = `${new Date().toISOString().replace(/[-:.]/g, "")}.tar.gz`;
  await writeDump(data, path.join(folder, name), "keep");
  const dumps = dumpsAmong(await readdir(folder));
  for (const old of dumps.slice(KEPT_CHECKPOINTS))
    await rm(path.join(folder, old), { force: true });
}

/** The names of dumps among files, newest first. */
const dumpsAmong = (names: readonly string[]): string[] =>
  names.filter((name) => DUMP.test(name)).sort((a, b) => (a < b ? 1 : -1));
