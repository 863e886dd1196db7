import { hash } from "node:crypto";
import { Failure } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { ModelChoice } from "../../shared/job/route-models.ts";
import type { ModelUse, ReplyRecord } from "../../shared/job/run-result.ts";
import { REST_MS } from "../run-trace.ts";
import { inSpan } from "../../shared/metrics/traces.ts";
import type { RunTrace } from "../run-trace.ts";
import type {
  AskJudge,
  CallLog,
  RecalledReply,
  RecordedReply,
  Verification,
} from "../evidence/types.ts";
import { ReplyUnreadable, ToolCallUnreadable } from "../models/model.ts";
import type {
  Message,
  Model,
  ModelRegistry,
  ModelReply,
  ModelRequest,
  ModelTask,
} from "../models/model.ts";
import { endingOf, LONG_PAUSE_MS } from "../models/limiter.ts";
import type { CallCharge, CallEnding, CallEstimate, Limiter } from "../models/limiter.ts";
import { estimateTokens, replyTokens } from "../models/prompt-window.ts";
import type { Offload } from "../offload/offload.ts";
import { cleanText } from "../text/clean-text.ts";
import type { Prompt } from "./prompt.ts";

export type ModelCall = {
  readonly pass: ReplyRecord["pass"];
  readonly model: Model;
  readonly choice: ModelChoice;
  readonly prompt: Prompt;
  readonly task: ModelTask;
  readonly overrides?: Pick<
    ModelRequest,
    "temperature" | "seed" | "topP" | "stop" | "format" | "tools" | "toolChoice"
  >;
};

/** The parts of a run that a call needs. */
export type CallParts = {
  readonly calls: CallLog;
  readonly offload: Offload;
  readonly judge?: AskJudge | undefined;
  /** Missing where answers are not verified. */
  readonly verification?: Verification | undefined;
  readonly trace: RunTrace;
  readonly signal: AbortSignal;
};

/** Picks the parts that a call needs from a job's dependencies and from its run. */
export const callParts = (
  {
    calls,
    offload,
    judge,
    verification,
  }: Pick<CallParts, "calls" | "offload" | "judge" | "verification">,
  { trace, signal }: Pick<CallParts, "trace" | "signal">,
): CallParts => ({ calls, offload, judge, verification, trace, signal });

/** The model of a choice. Throws Failure MODEL_NOT_FOUND where none is configured or the name is unknown. */
export function modelOf(
  choice: ModelChoice,
  models: ModelRegistry,
  signal: AbortSignal,
): Promise<Model> {
  if (choice.name !== null) return models.get(choice.name, signal);
  throw new Failure(
    "MODEL_NOT_FOUND",
    `No model is configured. Set model.name, or model.provider: extractive to work without one.`,
  );
}

/** The record of the model that runs a pass, and why it was chosen. */
export const modelUse = (
  pass: ModelUse["pass"],
  { name, facts }: Model,
  { why, maxTokens }: ModelChoice,
): ModelUse => ({
  pass,
  model: name,
  why,
  facts: {
    provider: facts.provider,
    is_free: facts.isFree,
    reads_prompts: facts.readsPrompts,
    digest: facts.digest,
    quantization: facts.quantization,
    server_version: facts.serverVersion,
    window_tokens: facts.windowTokens,
    max_tokens: maxTokens,
    tool_protocol: facts.toolProtocol,
    ignores_schemas: facts.ignoresSchemas,
    options: facts.options,
  },
});

/**
 * Makes one call of a model, and commits the reply as it returns. A request that an earlier attempt of the job, or another job,
 * has made already is not made again: the stored reply is used. So a run that was killed continues where it stopped, and a job
 * without any change calls no model.
 */
export async function callModel(call: ModelCall, parts: CallParts): Promise<ModelReply | Refusal> {
  const { calls, trace } = parts;
  const { pass, model, prompt } = call;
  const requestSha256 = hashRequest(call);
  const earlier = await calls.recall(requestSha256, model.facts);
  const keep: StoreReply = (recorded, charge) =>
    calls.commit(
      {
        pass,
        requestSha256,
        model: model.name,
        modelDigest: model.facts.digest,
        prompt: prompt.record,
        ...recorded,
      },
      charge,
    );
  const { reply, durationMs } = earlier ?? (await askWhenDue(call, parts, keep));
  const kept = storageOf(model, reply);
  if (reply.kind === "refused") return reply;
  trace.reply({
    pass,
    model: model.name,
    text: reply.text,
    promptTokens: reply.promptTokens,
    completionTokens: reply.completionTokens,
    durationMs,
    requestSha256,
    prompt: prompt.record,
    kept,
    ...originOf(earlier),
  });
  return reply;
}

function originOf(earlier: RecalledReply | undefined): Pick<ReplyRecord, "origin" | "cachedFrom"> {
  if (earlier === undefined) return { origin: "asked" };
  const { cachedFrom } = earlier;
  return cachedFrom === undefined ? { origin: "reused" } : { origin: "cached", cachedFrom };
}

/**
 * A reply of a model without language takes no time and is always the same: it is stored with the run, and its loss is
 * harmless.
 */
const storageOf = ({ facts }: Model, reply: RecordedReply["reply"]): ReplyRecord["kept"] =>
  facts.isFree && reply.kind === "reply" ? "with_run" : "as_returned";

type StoreReply = (recorded: RecordedReply, charge?: CallCharge) => Promise<void>;

/** Calls a model without language at once, because it has no host, and any other model in its host's turn. */
async function askWhenDue(
  call: ModelCall,
  { calls, trace, signal }: CallParts,
  keep: StoreReply,
): Promise<RecordedReply> {
  const { model, prompt, choice } = call;
  if (model.facts.isFree) {
    const recorded = await requestReply(call, { trace, signal });
    if (storageOf(model, recorded.reply) === "as_returned") await keep(recorded);
    return recorded;
  }
  const estimate = estimateOf(prompt.messages, model, choice.maxTokens);
  return callInTurn(estimate, () => requestReply(call, { trace, signal }), {
    limiter: calls.limiter,
    trace,
    signal,
    keep,
  });
}

async function requestReply(
  { model, choice, prompt, task, overrides }: ModelCall,
  { trace, signal }: Pick<CallParts, "trace" | "signal">,
): Promise<RecordedReply> {
  const { maxTokens, timeoutMs } = choice;
  // The host may have a queue, in which the call waits up to the timeout again.
  trace.mayTake(2 * timeoutMs + REST_MS);
  const startedAt = performance.now();
  const { messages } = prompt;
  const request = { messages, task, maxTokens, timeoutMs, ...overrides };
  const reply = await inCallSpan({ model, choice }, () => model.complete(request, signal));
  const durationMs = performance.now() - startedAt;
  return reply.kind === "refused" ? { reply, durationMs } : { reply: clean(reply), durationMs };
}

/** Traces a call with OpenTelemetry's names for calls of models. No fact holds words of the prompt or the reply. */
const inCallSpan = (
  { model, choice }: Pick<ModelCall, "model" | "choice">,
  complete: () => Promise<ModelReply | Refusal>,
): Promise<ModelReply | Refusal> =>
  inSpan(
    `chat ${model.name}`,
    {
      kind: "client",
      facts: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": model.facts.provider,
        "gen_ai.request.model": model.name,
        "gen_ai.request.max_tokens": choice.maxTokens,
      },
    },
    async (span) => {
      const reply = await complete();
      if (reply.kind === "refused") span.fail(reply.code);
      else {
        span.set({
          "gen_ai.usage.input_tokens": reply.promptTokens,
          "gen_ai.usage.output_tokens": reply.completionTokens,
          "gen_ai.response.finish_reasons": [reply.doneReason],
        });
      }
      return reply;
    },
  );

const clean = ({ reasoning, ...reply }: ModelReply): ModelReply => ({
  ...reply,
  text: cleanText(reply.text),
  ...(reasoning && { reasoning: { ...reasoning, text: cleanText(reasoning.text) } }),
});

/** SHA-256 of all that decides a reply: the model, its options, the prompt, and the limits. */
export const hashRequest = ({ model, choice, prompt, overrides }: ModelCall): string =>
  hash(
    "sha256",
    JSON.stringify([
      model.name,
      model.facts.provider,
      model.facts.digest,
      Object.entries(model.facts.options).sort(([one], [other]) => (one < other ? -1 : 1)),
      prompt.record.sha256,
      choice.maxTokens,
      overrides?.temperature ?? null,
      overrides?.format ?? null,
      overrides?.tools ?? null,
      ...samplingOf(overrides),
      ...(overrides?.toolChoice === undefined ? [] : [overrides.toolChoice]),
    ]),
  );

/** Empty where no sampling option is set, so that the stored hashes of earlier requests stay valid. */
function samplingOf(overrides: ModelCall["overrides"]): readonly unknown[] {
  const { seed, topP, stop } = overrides ?? {};
  const isGiven = seed !== undefined || topP !== undefined || stop !== undefined;
  return isGiven ? [seed ?? null, topP ?? null, stop ?? null] : [];
}

type TurnParts = {
  readonly limiter: Limiter;
  readonly trace: RunTrace;
  readonly signal: AbortSignal;
  /** Stores the reply. When it gets the charge, it ends the slot in the same statement. */
  readonly keep?: StoreReply;
};

/**
 * Makes a call when its host has room for it, and tries again after a pause when the host turns out to be busy. Throws what
 * `ask`, `acquireSlot` and `keep` throw.
 */
export async function callInTurn(
  estimate: CallEstimate,
  ask: () => Promise<RecordedReply>,
  { limiter, trace, signal, keep }: TurnParts,
): Promise<RecordedReply> {
  for (let tries = 1; ; tries += 1) {
    const slot = await limiter.acquireSlot(estimate, signal);
    trace.waited(slot.waitedMs);
    const call = await tryCall(ask, estimate);
    const charge = slot.chargeOf?.(call.ending);
    if (keep !== undefined && charge !== undefined && "recorded" in call) {
      await keep(call.recorded, charge);
      return call.recorded;
    }
    await slot.end(call.ending);
    if ("recorded" in call) {
      await keep?.(call.recorded);
      return call.recorded;
    }
    const { error, ending } = call;
    if (ending.kind !== "busy" || (ending.retryAfterMs ?? 0) > LONG_PAUSE_MS) throw error;
    const pausedAt = performance.now();
    if ((await limiter.pauseWhenBusy(tries, signal)) === "give_up") throw error;
    trace.waited(performance.now() - pausedAt);
  }
}

type Tried = { readonly ending: CallEnding } & (
  { readonly recorded: RecordedReply } | { readonly error: unknown }
);

async function tryCall(ask: () => Promise<RecordedReply>, estimate: CallEstimate): Promise<Tried> {
  const startedAt = performance.now();
  try {
    const recorded = await ask();
    return { ending: answeredEnding(recorded, estimate), recorded };
  } catch (error) {
    return { ending: endingOf(error, estimate, performance.now() - startedAt), error };
  }
}

/** The most tokens that a call may cost: the prompt at its densest, and the longest reply that fits the window behind it. */
export const estimateOf = (
  messages: readonly Message[],
  { facts, host }: Model,
  maxTokens: number,
): CallEstimate => ({
  ...(host === undefined ? {} : { host }),
  promptTokens: estimateTokens(messages).most,
  replyTokens: facts.windowTokens === null ? maxTokens : replyTokens(facts.windowTokens, maxTokens),
});

/** For a host that counts no tokens, the estimate counts as the tokens of the prompt. */
function answeredEnding({ reply, durationMs }: RecordedReply, estimate: CallEstimate): CallEnding {
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

/** Makes a call of which only the text is used. A reply that the host could not read has an empty text. */
export const callForText = (
  call: ModelCall,
  parts: CallParts,
): Promise<Pick<ModelReply, "kind" | "text"> | Refusal> =>
  callModel(call, parts).catch((error: unknown) => {
    if (!(error instanceof ReplyUnreadable)) throw error;
    return { kind: "reply", text: "" };
  });

/**
 * One call of pass 2, as a step of the trace. A tool call that the host could not read is still a tool call: the reply holds
 * it, and the rules of the answer refuse it. Any other reply that the host could not read has an empty text.
 */
export async function askSecond(call: ModelCall, parts: CallParts): Promise<ModelReply | Refusal> {
  const { trace } = parts;
  const reply = await trace.step("second_pass", () =>
    callModel(call, parts).catch((error: unknown) => {
      if (!(error instanceof ReplyUnreadable)) throw error;
      const isCall = error instanceof ToolCallUnreadable;
      trace.detail("second_pass", isCall ? { unreadable_call: true } : { unreadable_reply: true });
      return { ...UNREADABLE, toolCalls: isCall ? [{ name: "unreadable", args: {} }] : [] };
    }),
  );
  const { record } = call.prompt;
  trace.detail("second_pass", {
    pass: call.pass,
    model: call.model.name,
    why: call.choice.why,
    prompt_version: record.template,
    prompt_sha256: record.sha256,
    ...(reply.kind === "refused" ? { refused: reply.code } : { done_reason: reply.doneReason }),
  });
  return reply;
}

const UNREADABLE: Omit<ModelReply, "toolCalls"> = {
  kind: "reply",
  text: "",
  promptTokens: 0,
  completionTokens: 0,
  loadMs: 0,
  doneReason: "stop",
};
