import { Failure } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { hostFailure } from "./host-failure.ts";
import type { ModelHost } from "./host-failure.ts";

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

/**
 * Makes one call of a model within its time limit. What the call throws is told in our words by hostFailure: its
 * refusals are returned, its Failures thrown. Throws the signal's reason after an abort, MODEL_TIMEOUT when time is up.
 */
export async function callWithTimeout<T>(
  host: ModelHost,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ask: (until: AbortSignal) => Promise<T>,
): Promise<T | Refusal> {
  const late = () => lateReply(host, timeoutMs);
  try {
    return await withDeadline({ signal, timeoutMs, late }, ask);
  } catch (error) {
    signal.throwIfAborted();
    return hostFailure(error, host);
  }
}

const lateReply = ({ name, baseUrl }: ModelHost, timeoutMs: number): Failure =>
  new Failure(
    "MODEL_TIMEOUT",
    `"${name}" at ${baseUrl} did not finish within ${timeoutMs / 1000} s. ` +
      `Raise model.timeout_s, or use a smaller model.`,
  );
