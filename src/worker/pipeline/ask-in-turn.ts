import { Failure } from "../../shared/failure.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import { estimateTokens, replyTokens } from "../model/prompt-window.ts";
import type { Message, Model } from "../model/model.ts";
import type { CallEnding, CallEstimate, Pace } from "./pace.ts";
import type { RecordedReply } from "../evidence/types.ts";

export type TurnParts = {
  readonly pace: Pace;
  readonly trace: RunTrace;
  readonly signal: AbortSignal;
};

/**
 * Makes a call when its host has room for it, and tries it again after a while when the host turns out to be busy.
 * Throws what `ask` and takeTurn throw.
 */
export async function askInTurn(
  estimate: CallEstimate,
  ask: () => Promise<RecordedReply>,
  { pace, trace, signal }: TurnParts,
): Promise<RecordedReply> {
  for (let tries = 1; ; tries += 1) {
    const turn = await pace.takeTurn(estimate, signal);
    trace.waited(turn.waitedMs);
    const call = await made(ask, estimate);
    await turn.end(call.ending);
    if ("recorded" in call) return call.recorded;
    const { error, ending } = call;
    if (ending.kind !== "busy" || (await pace.pauseWhenBusy(tries, signal)) === "give_up") {
      throw error;
    }
  }
}

type Made = { readonly ending: CallEnding } & (
  { readonly recorded: RecordedReply } | { readonly error: unknown }
);

async function made(ask: () => Promise<RecordedReply>, estimate: CallEstimate): Promise<Made> {
  const startedAt = performance.now();
  try {
    const recorded = await ask();
    return { ending: answered(recorded, estimate), recorded };
  } catch (error) {
    return { ending: endingOf(error, estimate, performance.now() - startedAt), error };
  }
}

/** What a call may cost: the prompt at its densest, and the longest reply that its window leaves room for. */
export const estimateOf = (
  messages: readonly Message[],
  { facts }: Model,
  maxTokens: number,
): CallEstimate => ({
  promptTokens: estimateTokens(messages).most,
  replyTokens: facts.windowTokens === null ? maxTokens : replyTokens(facts.windowTokens, maxTokens),
});

/** A host that counts no tokens is taken to have read what was estimated. */
function answered({ reply, durationMs }: RecordedReply, estimate: CallEstimate): CallEnding {
  if (reply.kind === "refused") {
    return { kind: "answered", promptTokens: 0, completionTokens: 0, durationMs };
  }
  const { promptTokens, completionTokens } = reply;
  const isCounted = promptTokens + completionTokens > 0;
  return {
    kind: "answered",
    promptTokens: isCounted ? promptTokens : estimate.promptTokens,
    completionTokens,
    durationMs,
  };
}

/** How a call ended that threw. A model that its host does not have was not asked. */
export function endingOf(
  error: unknown,
  { promptTokens }: CallEstimate,
  durationMs: number,
): CallEnding {
  const code = error instanceof Failure ? error.code : null;
  if (code === "MODEL_OVERLOADED") return { kind: "busy" };
  if (code === "MODEL_UNREACHABLE" || code === "MODEL_NOT_FOUND") return { kind: "not_made" };
  return { kind: "unanswered", promptTokens, durationMs };
}
