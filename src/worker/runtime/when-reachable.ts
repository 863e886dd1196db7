import { setTimeout as sleep } from "node:timers/promises";
import { isDatabaseGone } from "../../shared/db/database.ts";
import { isStorageFault } from "../../shared/storage-fault.ts";

/** A full disk or a read-only database is waited for, however long: what is in hand can't be stored anywhere else. */
const STORAGE_MS = 5_000;

/**
 * Runs the body again while the database is away, and for as long as it can't store anything.
 * @param delaysMs how long to wait before each further try; after the last, the error is the caller's
 * @param onAway told of every try that found it away
 */
export async function whenReachable<T>(
  body: () => Promise<T>,
  delaysMs: readonly number[],
  onAway: (error: unknown) => void,
): Promise<T> {
  let tries = 0;
  for (;;) {
    try {
      return await body();
    } catch (error) {
      const delayMs = isStorageFault(error) ? STORAGE_MS : delaysMs[tries++];
      const isPassing = isStorageFault(error) || isDatabaseGone(error);
      if (!isPassing || delayMs === undefined) throw error;
      onAway(error);
      await sleep(delayMs);
    }
  }
}
