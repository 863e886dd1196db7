import { Failure } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { withDeadline } from "./call-deadline.ts";
import { hostFailure } from "./host-failure.ts";
import type { Host } from "./host-failure.ts";

/**
 * Asks a model within the time that a call has. Throws the signal's reason after an abort, MODEL_TIMEOUT when the time
 * is up, and what hostFailure throws; the refusals among its faults are returned.
 */
export async function askInTime<T>(
  host: Host,
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

const lateReply = ({ name, baseUrl }: Host, timeoutMs: number): Failure =>
  new Failure(
    "MODEL_TIMEOUT",
    `"${name}" at ${baseUrl} did not finish within ${timeoutMs / 1000} s. ` +
      `Raise model.timeout_s, or use a smaller model.`,
  );
