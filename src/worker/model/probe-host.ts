import { Failure } from "../../shared/failure.ts";
import { withDeadline } from "./call-deadline.ts";
import { hostFailure } from "./host-failure.ts";
import type { Host } from "./host-failure.ts";

const PROBE_TIMEOUT_MS = 30_000;

/**
 * Asks a host what it knows of a model. Throws MODEL_UNREACHABLE for one that says nothing within 30 s, and what
 * hostFailure throws; a refusal has no place in a probe, and is INTERNAL_ERROR.
 */
export async function probeHost<Probe>(
  host: Host,
  signal: AbortSignal,
  ask: (until: AbortSignal) => Promise<Probe>,
): Promise<Probe> {
  const limits = { signal, timeoutMs: PROBE_TIMEOUT_MS, late: () => silent(host) };
  try {
    return await withDeadline(limits, ask);
  } catch (error) {
    signal.throwIfAborted();
    const { message } = hostFailure(error, host);
    throw new Failure("INTERNAL_ERROR", message, { cause: error });
  }
}

const silent = ({ baseUrl }: Host): Failure =>
  new Failure(
    "MODEL_UNREACHABLE",
    `${baseUrl} did not say within ${PROBE_TIMEOUT_MS / 1000} s what it knows of its models.`,
  );
