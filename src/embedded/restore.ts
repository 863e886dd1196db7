import { existsSync } from "node:fs";
import { readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { syncFolder } from "../shared/atomic-file.ts";
import { Failure } from "../shared/failure.ts";
import { dataPath, makeData, restoredPath } from "./open-directory.ts";
import type { OnDeath } from "./open-directory.ts";

/**
 * Loads a dump in place of the data of a directory, which is kept as `pgdata.broken-<UTC time>`. Only under the
 * lock. The data that is there stays where it is when the dump does not open.
 * @throws Failure NOT_FOUND without the file; DATABASE_UNREACHABLE when it is no dump that opens
 */
export async function restoreInto(
  directory: string,
  file: string,
  onDeath: OnDeath,
): Promise<{ readonly setAside: string | undefined }> {
  if (!existsSync(file)) throw new Failure("NOT_FOUND", `There is no file ${file} to restore.`);
  const restored = restoredPath(directory);
  await loadDump(file, `${restored}.partial`, onDeath);
  await rm(restored, { recursive: true, force: true });
  await rename(`${restored}.partial`, restored);
  const setAside = await moveAside(directory);
  await rename(restored, dataPath(directory));
  await syncFolder(directory);
  return { setAside };
}

async function loadDump(file: string, dataDirectory: string, onDeath: OnDeath): Promise<void> {
  const load = new File([await readFile(file)], "dump.tar.gz");
  try {
    await makeData({ dataDirectory, load, onDeath });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Failure(
      "DATABASE_UNREACHABLE",
      `The file ${file} is not a dump that opens: ${reason}. Nothing was changed; restore another one.`,
      { cause },
    );
  }
}

async function moveAside(directory: string): Promise<string | undefined> {
  const data = dataPath(directory);
  if (!existsSync(data)) return undefined;
  const time = new Date().toISOString().replace(/[-:.]/g, "");
  const setAside = path.join(directory, `pgdata.broken-${time}`);
  await rename(data, setAside);
  return setAside;
}
