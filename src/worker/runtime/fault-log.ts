import type { Logger } from "../../shared/logger.ts";

/** Tells of services that are away: at once, then seldom, and when they are back. */
export type FaultLog = {
  /** @param what is said once, and again at most every 30 s with the number of faults since */
  broke(what: string, err: unknown): void;
  /** Says how long it lasted, if it was broken. */
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
