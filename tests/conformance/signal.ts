/** A promise that the test resolves: code under test announces, the test waits with a deadline. */
export type Signal<T = void> = {
  readonly promise: Promise<T>;
  resolve(value: T): void;
};

export function signal<T = void>(): Signal<T> {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Asks until the answer is yes. @throws Error naming what was awaited, after the deadline */
export async function eventually(
  what: string,
  isTrue: () => Promise<boolean>,
  deadlineMs = 40_000,
): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`still not after ${deadlineMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
}
