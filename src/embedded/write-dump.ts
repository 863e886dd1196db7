import { constants } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { createAtomicFile } from "../shared/atomic-file.ts";
import type { Existing } from "../shared/atomic-file.ts";
import { packFolder } from "./tar.ts";

const KEPT_CHECKPOINTS = 2;
const DUMP = /^\d{8}T\d{9}Z\.tar\.gz$/;

const COPY_PREFIX = ".pgdata-copy-";

/** Whether a folder is one that `copyData` made, and a process that was killed left behind. */
export const isCopy = (name: string): boolean => /^\.pgdata-copy-\w{6}$/.test(name);

/**
 * A copy of a data directory that nothing writes meanwhile, in a folder of its own beside it, for the caller to remove. It
 * shares the blocks of the original where the file system can do that.
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

/**
 * Writes a data directory as a tar, compressed, so that `file` is at any time either what it was before or all of the
 * dump. Memory does not grow with the data.
 * @throws the system's error, EEXIST where a file is there that is to be kept
 */
export async function writeDump(data: string, file: string, existing: Existing): Promise<void> {
  const dump = await createAtomicFile(file, existing);
  try {
    await pipeline(packFolder(data), createGzip(), (pieces: AsyncIterable<Buffer>) =>
      writeFile(dump.handle, pieces),
    );
    await dump.commit();
  } finally {
    await dump.discard();
  }
}

/** Writes a dump into `<directory>/backups` and keeps the last two there. */
export async function writeCheckpoint(data: string, directory: string): Promise<void> {
  const folder = path.join(directory, "backups");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const name = `${new Date().toISOString().replace(/[-:.]/g, "")}.tar.gz`;
  await writeDump(data, path.join(folder, name), "keep");
  const dumps = dumpsAmong(await readdir(folder));
  for (const old of dumps.slice(KEPT_CHECKPOINTS))
    await rm(path.join(folder, old), { force: true });
}

/** The names of dumps among those of a folder, newest first. */
export const dumpsAmong = (names: readonly string[]): string[] =>
  names.filter((name) => DUMP.test(name)).sort((a, b) => (a < b ? 1 : -1));
