/** Places at a model, in the order of asking. */
export type Slots = {
  /** Resolves with how to give the place back; rejects when `signal` aborts. Who waits hears nothing meanwhile. */
  take(signal: AbortSignal): Promise<() => void>;
};

export function createSlots(size: number): Slots {
  let taken = 0;
  const waiting: (() => void)[] = [];
  const release = (): void => {
    const next = waiting.shift();
    if (next === undefined) taken -= 1;
    else next();
  };
  return {
    async take(signal) {
      signal.throwIfAborted();
      if (taken < size) {
        taken += 1;
        return release;
      }
      await new Promise<void>((resolve, reject) => {
        waiting.push(resolve);
        signal.addEventListener("abort", () => {
          const index = waiting.indexOf(resolve);
          if (index === -1) return;
          waiting.splice(index, 1);
          reject(signal.reason as Error);
        });
      });
      return release;
    },
  };
}
