import { setTimeout as sleep } from "node:timers/promises";

/** Waits for the work, but not longer than the limit. @returns whether it ended; an error of it is thrown */
export async function inTime(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const timer = new AbortController();
  const late = sleep(limitMs, false, { signal: timer.signal });
  const ended = work.then(() => true);
  // The one that loses the race is heard, too.
  ended.catch(() => undefined);
  late.catch(() => undefined);
  try {
    return await Promise.race([ended, late]);
  } finally {
    timer.abort();
  }
}
