/** The longest time that a timer of Node takes. */
const LONGEST_MS = 2 ** 31 - 1;

type Deadline = {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** What a call that takes longer ends with. */
  readonly late: () => Error;
};

/**
 * Runs a call until it ends, time is up, or `signal` aborts. Throws the signal's reason after an abort, and
 * `late()` when time is up; else what the call throws. Not AbortSignal.any over AbortSignal.timeout: Node 20 collects the
 * parts of it as garbage while a request still waits for them, and a host that says nothing, or a byte now and then,
 * would be waited for for ever.
 */
export async function withDeadline<T>(
  { signal, timeoutMs, late }: Deadline,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const stop = (): void => {
    controller.abort(signal.reason);
  };
  signal.addEventListener("abort", stop, { once: true });
  const timer = setTimeout(
    () => {
      controller.abort(late());
    },
    Math.min(timeoutMs, LONGEST_MS),
  );
  try {
    return await run(controller.signal);
  } catch (error) {
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}
