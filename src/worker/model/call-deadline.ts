import type { Failure } from "../../shared/failure.ts";

/** The longest time that a timer of Node takes. */
const LONGEST_MS = 2 ** 31 - 1;

type Deadline = {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly late: () => Failure;
};

/**
 * Runs a call until it ends, time is up, or `signal` aborts. Throws the signal's reason after an abort, and
 * `late()` when time is up; else what the call throws.
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
