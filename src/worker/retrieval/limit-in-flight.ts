/** Runs tasks beside each other, at most `limit` at a time. The first error is thrown by the next call. */
export function limitInFlight(limit: number): {
  /** Resolves as soon as the task has started. */
  start(task: () => Promise<void>): Promise<void>;
  /** Resolves when every task has ended. */
  finish(): Promise<void>;
} {
  const running = new Set<Promise<void>>();
  const errors: unknown[] = [];
  const throwFirst = () => {
    if (errors.length > 0) throw errors[0];
  };
  return {
    async start(task) {
      while (running.size >= limit) await Promise.race(running);
      throwFirst();
      const ended: Promise<void> = task()
        .catch((error: unknown) => void errors.push(error))
        .finally(() => running.delete(ended));
      running.add(ended);
    },
    async finish() {
      await Promise.all(running);
      throwFirst();
    },
  };
}
