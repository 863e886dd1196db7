import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { createAtomicFile } from "../shared/atomic-file.ts";
import type { Existing } from "../shared/atomic-file.ts";

const KEPT_CHECKPOINTS = 2;
const DUMP = /^\d{8}T\d{9}Z\.tar\.gz$/;

/**
 * Writes a tar, compressed, so that `file` is at any time either what it was before or all of the dump.
 * @throws the system's error, EEXIST where a file is there that is to be kept
 */
export async function writeDump(tar: Blob, file: string, existing: Existing): Promise<void> {
  const dump = await createAtomicFile(file, existing);
  try {
    await pipeline(tar.stream(), createGzip(), (pieces: AsyncIterable<Buffer>) =>
      writeFile(dump.handle, pieces),
    );
    await dump.commit();
  } finally {
    await dump.discard();
  }
}

/** Writes a dump into `<directory>/backups` and keeps the last two there. */
export async function writeCheckpoint(tar: Blob, directory: string): Promise<void> {
  const folder = path.join(directory, "backups");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const name = `${new Date().toISOString().replace(/[-:.]/g, "")}.tar.gz`;
  await writeDump(tar, path.join(folder, name), "keep");
  const dumps = dumpsAmong(await readdir(folder));
  for (const old of dumps.slice(KEPT_CHECKPOINTS))
    await rm(path.join(folder, old), { force: true });
}

/** The names of dumps among those of a folder, newest first. */
export const dumpsAmong = (names: readonly string[]): string[] =>
  names.filter((name) => DUMP.test(name)).sort((a, b) => (a < b ? 1 : -1));
