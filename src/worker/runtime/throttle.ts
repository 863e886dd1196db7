const EVERY_MS = 250;

/**
 * Passes on at most one value in 250 ms, the newest. A report that fails is dropped: progress is a courtesy,
 * and the job goes on without it.
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
