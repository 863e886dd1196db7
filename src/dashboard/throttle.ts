export type Throttle = {
  /** Runs the body at once, or as soon as `leastMs` have passed since its last run. */
  readonly request: () => void;
  readonly stop: () => void;
};

/**
 * Runs a body on request, at most once in `leastMs` and never twice at a time.
 * @param body resolves to the milliseconds until its next run without a request, or null; it never rejects
 */
export function throttle(body: () => Promise<number | null>, leastMs: number): Throttle {
  let timer: NodeJS.Timeout | undefined;
  let ranAt = -Infinity;
  let state: "idle" | "running" | "wanted" | "stopped" = "idle";
  const arm = (waitMs: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void run(), waitMs);
  };
  const run = async (): Promise<void> => {
    state = "running";
    ranAt = performance.now();
    const againMs = await body();
    const next = isWanted() ? leastMs : againMs;
    if (isStopped()) return;
    state = "idle";
    if (next !== null) arm(Math.max(0, ranAt + next - performance.now()));
  };
  // Functions, because TypeScript does not know that the state changes while the body runs.
  const isWanted = (): boolean => state === "wanted";
  const isStopped = (): boolean => state === "stopped";
  return {
    request() {
      if (state === "running") state = "wanted";
      else if (state === "idle") arm(Math.max(0, ranAt + leastMs - performance.now()));
    },
    stop() {
      state = "stopped";
      clearTimeout(timer);
    },
  };
}
