import { setTimeout as sleep } from "node:timers/promises";
import { isDatabaseGone } from "../../shared/db/database.ts";

/**
 * Runs the body again while the database is away.
 * @param delaysMs how long to wait before each further try; after the last, the error is the caller's
 * @param onAway told of every try that found it away
 */
export async function whenReachable<T>(
  body: () => Promise<T>,
  delaysMs: readonly number[],
  onAway: (error: unknown) => void,
): Promise<T> {
  for (const delayMs of delaysMs) {
    try {
      return await body();
    } catch (error) {
      if (!isDatabaseGone(error)) throw error;
      onAway(error);
      await sleep(delayMs);
    }
  }
  return body();
}
