import { Failure, HostFailure } from "../../shared/failure.ts";
import type { CallEnd } from "../../shared/store/hosts/calls.ts";

/** The most tokens that a call may cost, and its host. */
export type CallEstimate = {
  readonly promptTokens: number;
  readonly replyTokens: number;
  /** Base URL; missing if there is only one host. */
  readonly host?: string;
};

/**
 * How a call ended.
 *
 *   answered     a reply, or the host's refusal of the prompt
 *   unanswered   the call was made, and cut off: too late, or aborted
 *   busy         the host had no room for it (HTTP 503 or 429)
 *   not_made     there was no host
 */
export type CallEnding =
  | {
      readonly kind: "answered";
      readonly promptTokens: number;
      readonly completionTokens: number;
      readonly durationMs: number;
    }
  | { readonly kind: "unanswered"; readonly promptTokens: number; readonly durationMs: number }
  | {
      readonly kind: "busy";
      /** How long the host asks to be left alone; null if it does not say. */
      readonly retryAfterMs: number | null;
    }
  | { readonly kind: "not_made" };

/** The result of a call for the state of its host, and its cost. */
export type CallCharge = CallEnd & { readonly ticket: string };

/** The right to make one call now. */
export type Slot = {
  readonly waitedMs: number;
  /** Must be called once, however the call ended, unless its charge is passed on. */
  end(ending: CallEnding): Promise<void>;
  /** For a caller that ends the call and stores its reply in one transaction; missing if nothing is charged. */
  readonly chargeOf?: (ending: CallEnding) => CallCharge;
};

/** Makes calls to a model host wait, so that all workers together do not overload it. */
export type Limiter = {
  /**
   * Waits until the host has room; this time counts toward no timeout.
   * @throws HostFailure MODEL_UNREACHABLE while the host is known to be down; Failure BUDGET_EXCEEDED for a call that may
   *   cost more than is left; RunAborted for a run that lost its job; the signal's reason
   */
  acquireSlot(estimate: CallEstimate, signal: AbortSignal): Promise<Slot>;
  /**
   * After the host was busy: waits before the call is tried again, longer each time.
   * @param tries how often it was tried so far
   */
  pauseWhenBusy(tries: number, signal: AbortSignal): Promise<"again" | "give_up">;
};

/** A longer pause of a host is not waited for: the job is parked, or goes to another host. */
export const LONG_PAUSE_MS = 30_000;

/** For calls to a host that is not shared, without limits. */
export const UNLIMITED: Limiter = {
  acquireSlot: async () => ({ waitedMs: 0, end: async () => undefined }),
  pauseWhenBusy: async () => "give_up",
};

/** The ending of a call that threw. If the host lacks the model, no call was made. */
export function endingOf(
  error: unknown,
  { promptTokens }: CallEstimate,
  durationMs: number,
): CallEnding {
  const code = error instanceof Failure ? error.code : null;
  if (code === "MODEL_OVERLOADED") {
    return { kind: "busy", retryAfterMs: error instanceof HostFailure ? error.retryAfterMs : null };
  }
  if (code === "MODEL_UNREACHABLE" || code === "MODEL_NOT_FOUND") return { kind: "not_made" };
  return { kind: "unanswered", promptTokens, durationMs };
}
