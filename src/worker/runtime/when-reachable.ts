import { setTimeout as sleep } from "node:timers/promises";
import { isDatabaseGone } from "../../shared/store/connection/database.ts";
import { isStorageFault } from "../../shared/store/connection/errors.ts";

/** A full disk or a read-only database is waited for, however long: what is in hand can't be stored anywhere else. */
const STORAGE_MS = 5_000;

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 5_000;

/** Growing delays, of all together so many milliseconds; of one who tries for as long as it takes, without a last. */
export function* backOff(withinMs = Infinity): Generator<number> {
  let delayMs = FIRST_DELAY_MS;
  let waitedMs = 0;
  while (waitedMs < withinMs) {
    yield delayMs;
    waitedMs += delayMs;
    delayMs = Math.min(2 * delayMs, LONGEST_DELAY_MS);
  }
}

/**
 * Runs the body again while the database is away, and for as long as it can't store anything.
 * @param delaysMs how long to wait before each further try; after the last, the error is the caller's
 * @param onAway told of every try that found it away
 */
export async function whenReachable<T>(
  body: () => Promise<T>,
  delaysMs: Iterable<number>,
  onAway: (error: unknown) => void,
): Promise<T> {
  const delays = delaysMs[Symbol.iterator]();
  for (;;) {
    try {
      return await body();
    } catch (error) {
      const delayMs = isStorageFault(error) ? STORAGE_MS : nextOf(delays);
      const isPassing = isStorageFault(error) || isDatabaseGone(error);
      if (!isPassing || delayMs === undefined) throw error;
      onAway(error);
      await sleep(delayMs);
    }
  }
}

function nextOf(delays: Iterator<number>): number | undefined {
  const next = delays.next();
  return next.done === true ? undefined : next.value;
}
