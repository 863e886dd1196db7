import type { CommandContext } from "../../shared/command-context.ts";
import type { BatchEnd, CallResult, HookCall } from "../../shared/store/schedules/hook-calls.ts";
import { networksOf } from "../../shared/network-address.ts";
import { withDeadline } from "../model/call-deadline.ts";
import { callWebhook } from "./call-webhook.ts";
import { runHookCommand } from "./run-hook-command.ts";
import type { TryResult } from "./try-result.ts";

const MOST_TRIES = 3;
/** Before the second try, and before the third. */
const PAUSES_S = [5, 30];

const ABANDONED: CallResult = {
  state: "failed",
  status: null,
  error: `the workers that called it died, ${MOST_TRIES} times`,
  delaySeconds: 0,
};

/** Tells of the end of a batch, and says what becomes of the call. */
export async function callHook(
  call: HookCall,
  end: BatchEnd,
  context: CommandContext,
  signal: AbortSignal,
): Promise<CallResult> {
  if (call.tries > MOST_TRIES) return { ...ABANDONED };
  const result = await tryOnce(call, end, context, signal);
  const { kind, status, error } = result;
  if (kind === "told") return { state: "done", status, error: null, delaySeconds: 0 };
  if (kind === "refused" || call.tries >= MOST_TRIES) {
    return { state: "failed", status, error, delaySeconds: 0 };
  }
  return { state: "again", status, error, delaySeconds: PAUSES_S[call.tries - 1] ?? 0 };
}

function tryOnce(
  call: HookCall,
  end: BatchEnd,
  context: CommandContext,
  signal: AbortSignal,
): Promise<TryResult> {
  const { command, webhook, timeout_s: timeoutS } = context.config.on_batch_end;
  const limits = { signal, timeoutMs: timeoutS * 1_000, late: outOfTime };
  const id = `${call.batchId}-${call.finishedAt.toISOString()}`;
  const body = JSON.stringify({ ...end, event_id: id });
  if (call.target === "command" && command !== null) {
    return withDeadline(limits, (limited) =>
      runHookCommand(command, { id, body }, context, limited),
    );
  }
  if (call.target === "webhook" && webhook !== null) {
    const allowed = networksOf(context.config.on_batch_end.allowed_networks);
    return withDeadline(limits, (limited) =>
      callWebhook(webhook, { key: id, body, timeoutS, allowed }, limited),
    );
  }
  throw new TypeError(`a call of ${call.target} was taken, and none is configured`);
}

/** As ranOutOfTime knows it. */
const outOfTime = (): Error => new DOMException("time is up", "TimeoutError");
