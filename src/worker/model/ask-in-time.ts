import { Failure } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { withDeadline } from "./call-deadline.ts";
import { hostFailure } from "./host-failure.ts";
import type { Host } from "./host-failure.ts";

/**
 * Makes one call of a model within its time limit. What the call throws is told in our words by hostFailure: its
 * refusals are returned, its Failures thrown. Throws the signal's reason after an abort, MODEL_TIMEOUT when time is up.
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
