import type { Database } from "../store/connection/database.ts";
import { changeBatch } from "../store/jobs/batch-settings.ts";
import type { BatchSettings } from "../store/jobs/batch-settings.ts";
import { findOrCreateBatch } from "../store/jobs/batches.ts";
import { Failure } from "../failure.ts";

export type SelectedBatch = {
  readonly batchId: string;
  readonly name: string;
  readonly created: boolean;
  readonly mode: "loading" | "added";
};

const MOST_NAME_CHARS = 200;
const MOST_FILE_NAME_CHARS = 150;

/**
 * Selects the batch to load: the one with the requested name, or a new one named after the file and the time.
 * @param settings settings of the batch; in an existing batch only the settings given here change
 */
export async function selectBatch(
  database: Database,
  requested: string | undefined,
  fileName: string,
  settings: BatchSettings = {},
): Promise<SelectedBatch> {
  if (requested !== undefined) return selectNamed(database, checkName(requested), settings);
  for (;;) {
    const name = `${fileName.slice(0, MOST_FILE_NAME_CHARS)} ${new Date().toISOString()}`;
    const { batchId, created } = await findOrCreateBatch(database, name, "file", settings);
    if (created) return { batchId, name, created, mode: "loading" };
  }
}

async function selectNamed(
  database: Database,
  name: string,
  settings: BatchSettings,
): Promise<SelectedBatch> {
  const { batchId, created, state } = await findOrCreateBatch(database, name, "file", settings);
  if (!created) await changeBatch(database, batchId, settings);
  switch (state) {
    case "loading":
      return { batchId, name, created, mode: "loading" };
    case "open":
    case "completed":
      return { batchId, name, created, mode: "added" };
    default:
      throw new Failure(
        "INPUT_INVALID",
        `The batch ${JSON.stringify(name)} is ${state} and takes no more jobs. Choose another --batch-name.`,
      );
  }
}

/** @throws Failure INPUT_INVALID for a name that is blank, too long or has control characters */
export function checkName(name: string): string {
  if (name.trim() === "" || name.length > MOST_NAME_CHARS || /[\p{Cc}\p{Surrogate}]/u.test(name)) {
    throw new Failure(
      "INPUT_INVALID",
      `--batch-name must have 1 to ${MOST_NAME_CHARS} characters, none of them a control character.`,
    );
  }
  return name;
}
