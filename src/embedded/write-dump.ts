import { createWriteStream } from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

const KEPT_CHECKPOINTS = 2;
const DUMP = /^\d{8}T\d{9}Z\.tar\.gz$/;

/** Writes a tar, compressed, so that `file` is at any time either what it was before or all of the dump. */
export async function writeDump(tar: Blob, file: string): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    const target = createWriteStream(temporary, { mode: 0o600, flush: true });
    await pipeline(tar.stream(), createGzip(), target);
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
  await syncFolder(path.dirname(file));
}

/** Writes a dump into `<directory>/backups` and keeps the last two there. */
export async function writeCheckpoint(tar: Blob, directory: string): Promise<void> {
  const folder = path.join(directory, "backups");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const name = `${new Date().toISOString().replace(/[-:.]/g, "")}.tar.gz`;
  await writeDump(tar, path.join(folder, name));
  const dumps = dumpsAmong(await readdir(folder));
  for (const old of dumps.slice(KEPT_CHECKPOINTS))
    await rm(path.join(folder, old), { force: true });
}

/** The names of dumps among those of a folder, newest first. */
export const dumpsAmong = (names: readonly string[]): string[] =>
  names.filter((name) => DUMP.test(name)).sort((a, b) => (a < b ? 1 : -1));

/** Makes the names of a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  await handle.sync().finally(() => handle.close());
}
