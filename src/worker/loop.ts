import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../shared/logger.ts";
import { isQueueAway } from "../shared/queue/storage.ts";
import { isDatabaseGone } from "../shared/store/connection/database.ts";
import { isStorageFault } from "../shared/store/connection/errors.ts";

/** Logs outages of services: at once, then rarely, and when they end. */
export type FaultLog = {
  /** @param what the message; repeated at most every 30 s, with the number of faults since */
  broke(what: string, err: unknown): void;
  /** Logs how long the outage lasted, if there was one. */
  works(what: string): void;
};

const REPEAT_MS = 30_000;

type Outage = { readonly since: number; saidAt: number; unsaid: number };

/** @param now monotonic clock, milliseconds */
export function createFaultLog(
  logger: Logger,
  now: () => number = performance.now.bind(performance),
): FaultLog {
  const outages = new Map<string, Outage>();
  return {
    broke(what, err) {
      const outage = outages.get(what) ?? { since: now(), saidAt: -Infinity, unsaid: 0 };
      outages.set(what, outage);
      outage.unsaid += 1;
      if (now() - outage.saidAt < REPEAT_MS) return;
      logger.warn({ err, faults: outage.unsaid }, `${what}; trying again`);
      outage.saidAt = now();
      outage.unsaid = 0;
    },
    works(what) {
      const outage = outages.get(what);
      if (outage === undefined) return;
      outages.delete(what);
      logger.info({ away_ms: Math.round(now() - outage.since) }, `over: ${what}`);
    },
  };
}

const EVERY_MS = 250;

/**
 * Reports at most one value in 250 ms, and drops the others. A report that fails is dropped: progress is optional, and the
 * job continues.
 */
export function throttle<T>(
  report: (value: T) => Promise<void>,
  now: () => number = performance.now.bind(performance),
): (value: T) => void {
  let next = 0;
  let isBusy = false;
  return (value) => {
    if (isBusy || now() < next) return;
    isBusy = true;
    next = now() + EVERY_MS;
    report(value)
      .catch(() => undefined)
      .finally(() => {
        isBusy = false;
      });
  };
}

/** Interval of tries with a full disk or a read-only database; without limit, because results can't be stored elsewhere. */
const STORAGE_MS = 5_000;

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 5_000;

/** Growing delays with a total of about `withinMs`; endless by default. */
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
 * Repeats the body while the database or the queue is unreachable, and as long as the database can't store anything.
 * @param delaysMs the delays before further tries; after the last one the error is thrown
 * @param onAway called after each failed try
 */
export async function retryOnDisconnect<T>(
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
      const isPassing = isStorageFault(error) || isDatabaseGone(error) || isQueueAway(error);
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
