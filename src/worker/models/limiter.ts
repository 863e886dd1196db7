import { Failure, HostFailure } from "../../shared/failure.ts";
import type { CallEnd } from "../../shared/store/hosts/calls.ts";

/** What a call may cost at most, in tokens, and where it is made. */
export type CallEstimate = {
  readonly promptTokens: number;
  readonly replyTokens: number;
  /** Base URL; missing where there is one host. */
  readonly host?: string;
};

/**
 * How a call ended.
 *
 *   answered     a reply, or the host's refusal of the prompt
 *   unanswered   it was made, and cut off: too late, or aborted
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
      /** For how long it asked to be left alone; null where it did not say. */
      readonly retryAfterMs: number | null;
    }
  | { readonly kind: "not_made" };

/** What the end of a call says about its host, and costs. */
export type CallCharge = CallEnd & { readonly ticket: string };

/** The right to make one call now. */
export type Slot = {
  readonly waitedMs: number;
  /** Has to be called once, however the call ended, unless its charge is handed on. */
  end(ending: CallEnding): Promise<void>;
  /** For who ends the call together with what it gave; not there where nothing is charged. */
  readonly chargeOf?: (ending: CallEnding) => CallCharge;
};

/** What calls of a model host have to wait for, so that all workers together do not ask too much of it. */
export type Limiter = {
  /**
   * Waits until the host has room, which counts to no timeout.
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

/** A host that takes no call for longer is not waited for: the job is parked, or goes to another host. */
export const LONG_PAUSE_MS = 30_000;

/** For calls that nobody shares a host with, and that nothing limits. */
export const UNLIMITED: Limiter = {
  acquireSlot: async () => ({ waitedMs: 0, end: async () => undefined }),
  pauseWhenBusy: async () => "give_up",
};

/** How a call ended that threw. A model that its host does not have was not asked. */
export function endingOf(
  error: unknown,
  { promptTokens }: CallEstimate,
  durationMs: number,
): CallEnding {
  const code = error instanceof Failure ? error.code : null;
  if (code === "MODEL_OVERLOADED") {
    return {
      kind: "busy",
      retryAfterMs: error instanceof HostFailure ? error.retryAfterMs : null,
    };
  }
  if (code === "MODEL_UNREACHABLE" || code === "MODEL_NOT_FOUND") return { kind: "not_made" };
  return { kind: "unanswered", promptTokens, durationMs };
}
