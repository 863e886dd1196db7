import type { Queryable } from "../../shared/db/database.ts";
import { selectPace, selectWorkLeft, selectWorkSpent } from "../../shared/db/jobs/batch-work.ts";
import { secondsLeft } from "./estimate-left.ts";

/** How long the rest of a batch takes, undefined while nothing tells that, and how many tokens a second it takes. */
export type BatchWork = {
  readonly secondsLeft: number | undefined;
  readonly tokensPerSecond: number;
};

export type WorkReader = {
  /** What was last read; undefined while nothing was. */
  look(): Promise<BatchWork | undefined>;
};

/** Short waits end without it, and cost nothing more. */
const FIRST_MS = 2_000;
const EVERY_MS = 2_000;
/** Of a million jobs, reading takes a second: it may take a fiftieth of the time. */
const PAUSE_PER_MS = 50;

/** A batch that others hardly let in will not be let in so seldom for ever. */
const LEAST_SHARE = 0.1;

/** Reads the work of a batch from time to time. @param now monotonic clock, milliseconds */
export function createWorkReader(
  db: Queryable,
  batchId: string,
  now: () => number = performance.now.bind(performance),
): WorkReader {
  let nextAt = now() + FIRST_MS;
  let known: BatchWork | undefined;
  return {
    async look() {
      const startedAt = now();
      if (startedAt < nextAt) return known;
      known = await readWork(db, batchId);
      const endedAt = now();
      nextAt = endedAt + Math.max(EVERY_MS, (endedAt - startedAt) * PAUSE_PER_MS);
      return known;
    },
  };
}

async function readWork(db: Queryable, batchId: string): Promise<BatchWork> {
  const left = await selectWorkLeft(db, batchId);
  const alone = secondsLeft(left, await selectWorkSpent(db, batchId));
  const { tokens, seconds, share } = await selectPace(db, batchId);
  return {
    // Other batches take their turns.
    secondsLeft: alone === undefined ? undefined : alone / Math.max(LEAST_SHARE, share),
    tokensPerSecond: seconds === 0 ? 0 : tokens / seconds,
  };
}
