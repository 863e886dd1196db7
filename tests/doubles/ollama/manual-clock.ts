/** Time that only a test moves. */
export type ManualClock = {
  now(): number;
  /** Resolves when the clock has been moved by `ms`; rejects when `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  advance(ms: number): void;
};

export function manualClock(): ManualClock {
  let time = 0;
  const sleepers = new Set<{ until: number; wake: () => void }>();
  return {
    now: () => time,
    sleep(ms, signal) {
      if (ms <= 0) return Promise.resolve();
      return new Promise((resolve, reject) => {
        const sleeper = { until: time + ms, wake: resolve };
        sleepers.add(sleeper);
        signal.addEventListener("abort", () => {
          sleepers.delete(sleeper);
          reject(signal.reason as Error);
        });
      });
    },
    advance(ms) {
      time += ms;
      for (const sleeper of [...sleepers]) {
        if (sleeper.until > time) continue;
        sleepers.delete(sleeper);
        sleeper.wake();
      }
    },
  };
}
