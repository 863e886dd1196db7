import { CODES, Failure, HostFailure } from "../failure.ts";
import type { ErrorCode } from "../failure.ts";
import type { CheckInput } from "./job.ts";
import type { WantedReview } from "./verification.ts";
import type { Outcome } from "./run-result.ts";
import { storageFaultOf } from "../store/connection/errors.ts";

/**
 * The next state of a job and of its run; no other file decides it.
 *
 *   succeeded, refused, failed, cancelled, expired the job ends
 *   retry due again after `delayMs`; uses up an attempt
 *   parked due again after `delayMs`, when its host is back, a person has answered, or an exam has ended; uses up no attempt
 *   drafted due again when the checks of its answer have ended; uses up no attempt
 *   escalated due at once, for the next model of verify.tiers; uses up no attempt
 *   handed_back due at once, because the worker must stop or the batch is held; uses up no attempt
 */
export type Settlement =
  | { readonly kind: "succeeded"; readonly outcome: Extract<Outcome, { kind: "succeeded" }> }
  | EndedSettlement<"refused" | "failed" | "cancelled" | "expired">
  | DelayedSettlement<"retry">
  | (DelayedSettlement<"parked"> & {
      /** Base URL of the model host that is down or busy; null when it is another service. */
      readonly host: string | null;
      /** Whether the host broke off in the middle of a call. */
      readonly brokeOff?: boolean;
      /** Set when the job waits for a person or for the exam of its judge. It is not retried until an event wakes it. */
      readonly waitingFor?: Awaited;
      /** The draft for a person to review. */
      readonly review?: WantedReview;
    })
  | { readonly kind: "handed_back" }
  | Exclude<Pending, { readonly kind: "review" }>;

/** An event, instead of a time, that a job waits for. */
type Awaited = "approval" | "review" | "exam";

/** An answer that is not final: it waits for its checks, which are jobs of their own, for another model, or for a person. */
export type Pending =
  | {
      readonly kind: "drafted";
      readonly checks: readonly QueuedCheck[];
      readonly budget: CheckBudget;
      /** Added to the priority of the batch. */
      readonly priority: number;
    }
  | { readonly kind: "escalated" }
  | { readonly kind: "review"; readonly review: WantedReview };

/** The result of a run that did not throw. */
export type RunEnd = Outcome | Pending;

type EndedSettlement<Kind> = {
  readonly kind: Kind;
  readonly code: ErrorCode;
  readonly message: string;
};
type DelayedSettlement<Kind> = EndedSettlement<Kind> & { readonly delayMs: number };

/** Why the worker aborted a run; the reason of its AbortSignal. */
export class RunAborted extends Error {
  override readonly name = "RunAborted";
  readonly why: "cancelled" | "expired" | "stopping" | "lease_lost";
  constructor(why: RunAborted["why"]) {
    super(`run aborted: ${why}`);
    this.why = why;
  }
}

/** A check to queue, with its position among the checks of the job. */
export type QueuedCheck = {
  readonly round: number;
  readonly ordinal: number;
  readonly input: CheckInput;
};

/** The total budget for checks of a batch; null for no limit. */
export type CheckBudget = { readonly tokens: number | null; readonly calls: number | null };

type Attempts = {
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly parks: number;
  /** How often a host broke off during a call of this job. */
  readonly brokenCalls: number;
};

/** The delay before the first retry or after the first park doubles with each further one, up to `most`. */
const RETRY_MS = { first: 5_000, most: 300_000 };
const PARK_MS = { first: 10_000, most: 300_000 };

/** The longest single delay that any rule gives. */
export const LONGEST_DELAY_MS = Math.max(RETRY_MS.most, PARK_MS.most);

const backOffMs = ({ first, most }: typeof RETRY_MS, times: number): number =>
  Math.min(most, first * 2 ** Math.max(0, times));

/** Settles a run that returned. */
export function settleOutcome(end: RunEnd): Settlement {
  switch (end.kind) {
    case "succeeded":
      return { kind: "succeeded", outcome: end };
    case "review":
      return settleReview(end.review);
    case "refused":
    case "drafted":
    case "escalated":
      return end;
  }
}

const settleReview = (review: WantedReview): Settlement => ({
  kind: "parked",
  code: "ANSWER_REVIEW_PENDING",
  message: `${review.why} Somebody is asked to accept, correct or reject the answer: nightdesk reviews list.`,
  host: null,
  delayMs: 0,
  waitingFor: "review",
  review,
});

/**
 * Settles a run that threw.
 * @returns undefined when another run has taken over the job: this run must write nothing
 */
export function settleError(error: unknown, attempts: Attempts): Settlement | undefined {
  if (error instanceof RunAborted) return settleAbort(error.why);
  const { code, message } = describeError(
    error instanceof Failure ? error : (storageFaultOf(error) ?? error),
  );
  const { outcome } = CODES[code];
  switch (outcome) {
    case "parked":
      return settleParked(error, { code, message }, attempts);
    case "retried":
      return attempts.attempt < attempts.maxAttempts
        ? { kind: "retry", code, message, delayMs: backOffMs(RETRY_MS, attempts.attempt - 1) }
        : { kind: "failed", code, message };
    case "held":
      return { kind: "handed_back" };
    case "cancelled":
    case "refused":
    case "expired":
      return { kind: outcome, code, message };
    case "failed":
    case "command":
      return { kind: "failed", code, message };
  }
}

const WAITS_FOR: Partial<Record<ErrorCode, Awaited>> = {
  APPROVAL_PENDING: "approval",
  EXAM_PENDING: "exam",
  REVIEW_PENDING: "review",
};

/** Without this limit, a document that crashes its host would crash it again each time the host is back. */
const MOST_BROKEN_CALLS = 5;

function settleParked(
  error: unknown,
  { code, message }: { readonly code: ErrorCode; readonly message: string },
  { parks, brokenCalls }: Attempts,
): Settlement {
  const isOfHost = error instanceof HostFailure;
  const brokeOff = isOfHost && error.brokeOff;
  if (brokeOff && brokenCalls + 1 >= MOST_BROKEN_CALLS) {
    return {
      kind: "failed",
      code: "MODEL_OUTPUT_INVALID",
      message:
        `${error.host} failed or broke off ${MOST_BROKEN_CALLS} times while it worked on this job, which may be what brings it down. ` +
        "Look at the host's log before you retry the job.",
    };
  }
  const host = isOfHost ? error.host : null;
  const parked = { kind: "parked", code, message, host, brokeOff } as const;
  const waitingFor = WAITS_FOR[code];
  return waitingFor === undefined
    ? { ...parked, delayMs: parkDelayMs(error, parks) }
    : { ...parked, delayMs: 0, waitingFor };
}

/** A job that another host can run moves there almost at once. After MOVES failed moves it waits like any other job. */
const MOVES = 8;
const MOVE_MS = 250;

function parkDelayMs(error: unknown, parks: number): number {
  if (!(error instanceof HostFailure)) return backOffMs(PARK_MS, parks);
  if (error.isServedElsewhere && parks < MOVES) return MOVE_MS;
  const waitedFor = Math.min(LONGEST_DELAY_MS, error.retryAfterMs ?? 0);
  return Math.max(backOffMs(PARK_MS, error.isServedElsewhere ? parks - MOVES : parks), waitedFor);
}

function settleAbort(why: RunAborted["why"]): Settlement | undefined {
  switch (why) {
    case "cancelled":
      return { kind: "cancelled", code: "CANCELLED", message: "Cancelled while it ran." };
    case "expired":
      return {
        kind: "expired",
        code: "DEADLINE_EXCEEDED",
        message: "The deadline of the batch passed while it ran.",
      };
    case "stopping":
      return { kind: "handed_back" };
    case "lease_lost":
      return undefined;
  }
}

const describeError = (error: unknown): { code: ErrorCode; message: string } =>
  error instanceof Failure
    ? { code: error.code, message: error.message }
    : {
        code: "INTERNAL_ERROR",
        message: `${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}. This is a fault of Nightdesk; the worker's log has the details.`,
      };
