import { Failure, HostFailure } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { hostFailure } from "./host-failure.ts";
import type { ModelHost } from "./host-failure.ts";

/** The longest delay of a timer in Node. */
export const LONGEST_MS = 2 ** 31 - 1;

type Deadline = {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Makes the error of a call that takes longer. */
  readonly late: () => Error;
};

/**
 * Runs a call until it ends, time is up, or `signal` aborts. Throws the signal's reason after an abort, and `late()` when
 * time is up; else what the call throws. `restart` starts the full time again, with another error for a late call. It does
 * not use AbortSignal.any over AbortSignal.timeout: Node 20 garbage-collects its parts while a request still waits for them,
 * and a host that sends nothing, or a byte now and then, would be waited for for ever.
 */
export async function withDeadline<T>(
  { signal, timeoutMs, late }: Deadline,
  run: (signal: AbortSignal, restart: (late: Deadline["late"]) => void) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const stop = (): void => {
    controller.abort(signal.reason);
  };
  signal.addEventListener("abort", stop, { once: true });
  const startTimer = (words: Deadline["late"]): NodeJS.Timeout =>
    setTimeout(
      () => {
        controller.abort(words());
      },
      Math.min(timeoutMs, LONGEST_MS),
    );
  let timer = startTimer(late);
  try {
    return await run(controller.signal, (words) => {
      clearTimeout(timer);
      timer = startTimer(words);
    });
  } catch (error) {
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

type CallLimits = {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /**
   * shown: the host sends the headers of a reply when it takes the call out of its queue, so the time before them does not
   * count as the model's.
   */
  readonly queue?: "shown" | "unseen";
};

/**
 * Makes one call of a model within its time limit. hostFailure rewords what the call throws: refusals are returned, Failures
 * thrown. Throws the signal's reason after an abort, MODEL_TIMEOUT when time is up, and MODEL_OVERLOADED when the time
 * passed in a queue that is shown.
 *
 * @param ask makes the call, and calls `headersCame` when the headers of the reply arrive
 */
export async function callWithTimeout<T>(
  host: ModelHost,
  { signal, timeoutMs, queue = "unseen" }: CallLimits,
  ask: (until: AbortSignal, headersCame: () => void) => Promise<T>,
): Promise<T | Refusal> {
  const late = () => replyTimeout(host, timeoutMs);
  const first = queue === "shown" ? () => queueTimeout(host, timeoutMs) : late;
  try {
    return await withDeadline({ signal, timeoutMs, late: first }, (until, restart) =>
      ask(until, () => {
        if (queue === "shown") restart(late);
      }),
    );
  } catch (error) {
    signal.throwIfAborted();
    return hostFailure(error, host);
  }
}

type ProcessCall = {
  /** The name of the model. */
  readonly name: string;
  /** The key of the configuration that sets the time. */
  readonly timeoutKey: string;
  readonly signal: AbortSignal;
  /** The limit for waiting in the queue, and again for the call itself. */
  readonly timeoutMs: number;
};

/**
 * Makes one call of a model in a child process within its time limit.
 * @param ask makes the call, and calls `onStarted` when its turn has come
 * @throws the signal's reason after an abort, MODEL_TIMEOUT when time is up, and what the call throws
 */
export function callProcess<T>(
  { name, timeoutKey, signal, timeoutMs }: ProcessCall,
  ask: (until: AbortSignal, onStarted: () => void) => Promise<T>,
): Promise<T> {
  const noTurn = (): Failure =>
    new Failure(
      "MODEL_TIMEOUT",
      `"${name}" had no turn within ${timeoutMs / 1_000} s: other calls, or another model, took all of it. Raise ` +
        `${timeoutKey}, make fewer calls at once, or use one model.`,
    );
  const notDone = (): Failure =>
    new Failure(
      "MODEL_TIMEOUT",
      `"${name}" did not finish within ${timeoutMs / 1_000} s on this machine. Raise ${timeoutKey}, or use a smaller ` +
        "model.",
    );
  return withDeadline({ signal, timeoutMs, late: noTurn }, (until, restart) =>
    ask(until, () => {
      restart(notDone);
    }),
  );
}

const replyTimeout = ({ name, baseUrl }: ModelHost, timeoutMs: number): Failure =>
  new Failure(
    "MODEL_TIMEOUT",
    `"${name}" at ${baseUrl} did not finish within ${timeoutMs / 1000} s. ` +
      `Raise model.timeout_s (model.timeout_s_big_second for answers of the big model), or use a smaller model.`,
  );

const queueTimeout = ({ name, baseUrl }: ModelHost, timeoutMs: number): HostFailure =>
  new HostFailure(
    "MODEL_OVERLOADED",
    `"${name}" at ${baseUrl} had no free slot within ${timeoutMs / 1000} s. Start it with more slots, lower ` +
      `model.parallel to as many as it has, or raise model.timeout_s.`,
    { host: baseUrl },
  );
