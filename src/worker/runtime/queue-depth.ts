/** How many deliveries the queue is filled up to. */
export type QueueDepth = {
  readonly jobs: () => number;
  /** Tells how many places were free at a look, and filled. */
  filled(jobs: number): void;
};

/** Enough for batches to take turns in blocks that are worth loading a model for. */
const LEAST = 200;
const MOST = 1_000;
const QUIET_LOOKS = 5;

/**
 * The queue is as deep as it must be not to run empty between two looks, and no deeper: what is in it keeps its place,
 * whatever comes later with a higher priority.
 */
export function createQueueDepth(): QueueDepth {
  let depth = LEAST;
  let quiet = 0;
  return {
    jobs: () => depth,
    filled(jobs) {
      quiet = jobs * 4 < depth ? quiet + 1 : 0;
      if (jobs * 2 >= depth) depth = Math.min(MOST, depth * 2);
      else if (quiet >= QUIET_LOOKS) {
        depth = Math.max(LEAST, Math.floor(depth / 2));
        quiet = 0;
      }
    },
  };
}
