import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { Database } from "../store/connection/database.ts";
import { changeBatch } from "../store/jobs/batch-settings.ts";
import type { BatchSettings } from "../store/jobs/batch-settings.ts";
import { findOrCreateBatch } from "../store/jobs/batches.ts";
import { claimLoad, endLoad, renewLoad } from "../store/jobs/loads.ts";
import type { Load } from "../store/jobs/loads.ts";
import { Failure } from "../failure.ts";

export type SelectedBatch = Load & { readonly name: string; readonly created: boolean };

const MOST_NAME_CHARS = 200;
const MOST_FILE_NAME_CHARS = 150;

/**
 * Selects the batch to load: the one with the requested name, or a new one named after the file and the time. While another
 * command loads jobs into it, waits for its end.
 * @param options settings of the batch; in an existing batch only the settings given here change. `onWait` is called with a line
 * for the user, before it waits for another command
 */
export async function selectBatch(
  database: Database,
  requested: string | undefined,
  fileName: string,
  { onWait, ...settings }: BatchSettings & { readonly onWait?: (line: string) => void } = {},
): Promise<SelectedBatch> {
  const name = requested === undefined ? undefined : checkName(requested);
  for (;;) {
    const tried = name ?? `${fileName.slice(0, MOST_FILE_NAME_CHARS)} ${new Date().toISOString()}`;
    const { batchId, created } = await findOrCreateBatch(database, tried, "file", settings);
    if (name === undefined && !created) continue;
    const load = await waitForLoad(database, batchId, () => {
      onWait?.(
        `Another command is loading jobs into batch ${JSON.stringify(tried)}; this one waits for its end.`,
      );
    });
    if (load === undefined) continue;
    try {
      const mode = modeOf(tried, load.state);
      if (!created) await changeBatch(database, batchId, settings, "loaded");
      return { ...load, batchId, name: tried, created, mode };
    } catch (error) {
      await endLoad(database, { ...load, batchId, mode: "added" }).catch(() => undefined);
      throw error;
    }
  }
}

/** Four failed renewals lose the claim. */
const RENEW_MS = 3_500;

/** Renews the claim of a load until its work ends, and gives it up if the work fails. */
export async function whileLoading<Result>(
  database: Database,
  load: Load,
  work: () => Promise<Result>,
): Promise<Result> {
  const renewing = setInterval(() => {
    // A lost claim is found by whoever writes next, who renews it in the same transaction.
    renewLoad(database, load).catch(() => undefined);
  }, RENEW_MS).unref();
  try {
    return await work();
  } catch (error) {
    await endLoad(database, load).catch(() => undefined);
    throw error;
  } finally {
    clearInterval(renewing);
  }
}

const POLL_MS = 250;

/** @returns the claim and the state of the batch; undefined if the batch was deleted, for example by a load that was rejected */
async function waitForLoad(
  database: Database,
  batchId: string,
  onWait: () => void,
): Promise<{ readonly loadId: string; readonly state: string } | undefined> {
  const loadId = randomUUID();
  for (let tries = 0; ; tries += 1) {
    const claimed = await claimLoad(database, batchId, loadId);
    if (claimed === undefined) return undefined;
    if (claimed.mine) return { loadId, state: claimed.state };
    if (tries === 0) onWait();
    await setTimeout(POLL_MS);
  }
}

function modeOf(name: string, state: string): Load["mode"] {
  switch (state) {
    case "loading":
      return "loading";
    case "open":
    case "completed":
      return "added";
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
