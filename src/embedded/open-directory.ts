import { existsSync, readdirSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import path from "node:path";
import { Failure } from "../shared/failure.ts";
import { describeBroken } from "./describe-broken.ts";
import { openPglite } from "./open-pglite.ts";
import type { Engine, EngineOptions } from "./open-pglite.ts";
import { isCopy } from "./write-dump.ts";

export type OnDeath = (reason: string) => never;

export const dataPath = (directory: string): string => path.join(directory, "pgdata");

/** A dump that is being unpacked, or proven. */
export const unpackedPath = (directory: string): string =>
  path.join(directory, "pgdata.restored.partial");

/** A restored data directory that waits to take the place of the broken one. */
export const restoredPath = (directory: string): string => path.join(directory, "pgdata.restored");

/**
 * Opens the database of a directory, and makes it first where there is none.
 * @throws Failure DATABASE_UNREACHABLE that says what is broken and how to restore it
 */
export async function openDirectory(directory: string, onDeath: OnDeath): Promise<Engine> {
  const dataDirectory = dataPath(directory);
  await removeLeftOvers(directory);
  // A restore was cut off between its last two steps.
  if (!existsSync(dataDirectory) && existsSync(restoredPath(directory))) {
    await rename(restoredPath(directory), dataDirectory);
  }
  if (!existsSync(dataDirectory)) await create(directory, onDeath);
  try {
    if (!readdirSync(dataDirectory).includes("PG_VERSION"))
      throw new Error("PG_VERSION is missing");
    return await openPglite({
      dataDirectory,
      onDeath: (reason) => onDeath(describeBroken(directory, reason)),
    });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Failure("DATABASE_UNREACHABLE", describeBroken(directory, reason), { cause });
  }
}

/** What a process that was killed left behind. Only under the lock. */
async function removeLeftOvers(directory: string): Promise<void> {
  const isLeftOver = (name: string) =>
    isCopy(name) ||
    name === path.basename(unpackedPath(directory)) ||
    (name === path.basename(restoredPath(directory)) && existsSync(dataPath(directory)));
  for (const name of readdirSync(directory).filter(isLeftOver))
    await rm(path.join(directory, name), { recursive: true, force: true });
}

/** Makes a data directory beside its place, so that one that was cut off half-made is never opened. */
export async function makeData(options: EngineOptions): Promise<void> {
  await rm(options.dataDirectory, { recursive: true, force: true });
  const engine = await openPglite(options);
  await engine.close();
}

async function create(directory: string, onDeath: OnDeath): Promise<void> {
  const dataDirectory = path.join(directory, "pgdata.new");
  await makeData({ dataDirectory, onDeath });
  await rename(dataDirectory, dataPath(directory));
}
