import type { Queryable } from "../../shared/db/database.ts";
import { selectPace, selectWorkLeft } from "../../shared/db/jobs/batch-work.ts";
import type { Pace } from "../../shared/db/jobs/batch-work.ts";

/** How much of a batch is left, and how fast it goes, in one unit. */
export type BatchWork = { readonly left: number; readonly pace: Pace };

export type WorkReader = {
  /** What was last read; undefined while nothing was. */
  look(): Promise<BatchWork | undefined>;
};

/** Short waits end without it, and cost nothing more. */
const FIRST_MS = 2_000;
const EVERY_MS = 2_000;
/** Of a million jobs, reading takes a second: it may take a fiftieth of the time. */
const PAUSE_PER_MS = 50;

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
      known = { left: await selectWorkLeft(db, batchId), pace: await selectPace(db, batchId) };
      const endedAt = now();
      nextAt = endedAt + Math.max(EVERY_MS, (endedAt - startedAt) * PAUSE_PER_MS);
      return known;
    },
  };
}
