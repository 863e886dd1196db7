import type { Config } from "../../../shared/config/schema.ts";
import { Failure, refuse } from "../../../shared/failure.ts";
import type { Refusal } from "../../../shared/failure.ts";
import { durationMs } from "../keep-alive.ts";
import { completionOf } from "../model.ts";
import type { Model, ModelFacts, ModelReply, ModelRequest } from "../model.ts";
import { replyTokens, roomForPrompt } from "../prompt-window.ts";
import { toModelReply } from "../streamed-reply.ts";
import type { GgufRole } from "./gguf-file.ts";
import { grammarSchemaOf } from "./grammar-schema.ts";
import { brokeOff, holdModels } from "./held-models.ts";
import type { HeldModels, OpenedModel } from "./held-models.ts";
import type { Completion, CompletionReply } from "./model-process.ts";
import { RUNTIME } from "./runtime.ts";

export type LlamaCppConfig = Pick<Config, "model" | "embed" | "queue" | "roots">;

export const LANGUAGE_MODEL: GgufRole = {
  missing: "MODEL_NOT_FOUND",
  nameKey: "model.name",
  timeoutKey: "model.timeout_s",
  less: "lower model.num_ctx or model.parallel",
};

/**
 * Models of GGUF files in a process of this machine, one model at a time. The window is each call's own, a prompt is
 * counted by the model's tokenizer before it is read, and a reply is held to a schema by a grammar.
 *
 * Opening one loads it. @throws Failure MODEL_NOT_FOUND, MODEL_TIMEOUT, TOOL_ERROR; the signal's reason
 */
export function llamaCppModels(
  config: LlamaCppConfig,
): (name: string, signal: AbortSignal) => Promise<Model> {
  const { num_ctx, parallel, timeout_s, keep_alive, llama_cpp } = config.model;
  const models = holdModels({
    config,
    role: LANGUAGE_MODEL,
    changed,
    load: {
      task: "complete",
      windowTokens: num_ctx,
      parallel: parallel ?? config.queue.concurrency,
    },
    loadTimeoutMs: timeout_s * 1_000,
    idleMs: durationMs(keep_alive),
    recycle: { inputs: llama_cpp.recycle_replies, megabytes: Infinity },
  });
  return async (name, signal) => modelOf(await models.open(name, signal), config, models);
}

function modelOf(opened: OpenedModel, config: LlamaCppConfig, models: HeldModels): Model {
  const { name, digest, runtimeVersion, ready } = opened;
  const { num_ctx, temperature, seed } = config.model;
  const windowTokens = ready.model?.windowTokens ?? num_ctx;
  const facts: ModelFacts = {
    provider: "llama-cpp",
    isFree: false,
    readsPrompts: true,
    digest,
    quantization: ready.model?.quantization ?? null,
    serverVersion: `${RUNTIME.name} ${runtimeVersion}, ${ready.processor}`,
    windowTokens,
    toolProtocol: "schema",
    ignoresSchemas: false,
    options: { temperature, seed, num_ctx: windowTokens },
  };
  return {
    name,
    facts,
    promptChars: (maxTokens) => roomForPrompt(windowTokens, maxTokens),
    async complete(request, signal) {
      const { timeoutMs } = request;
      const limit = replyTokens(windowTokens, request.maxTokens);
      const completion = {
        ...completionOf(request, { temperature, seed, limit }),
        format: grammarOf(request),
      };
      const reply = await models.call(
        opened,
        { signal, timeoutMs, inputs: 1 },
        (process, until, onStarted) => process.complete(completion, until, onStarted),
      );
      return judge(reply, { name, windowTokens, limit });
    },
  };
}

/** The grammar that a reply is held to; null without one. */
const grammarOf = ({ format }: ModelRequest): Completion["format"] =>
  format === undefined ? null : format === "json" ? "json" : grammarSchemaOf(format);

type Bounds = { readonly name: string; readonly windowTokens: number; readonly limit: number };

function judge(
  reply: CompletionReply,
  { name, windowTokens, limit }: Bounds,
): ModelReply | Refusal {
  switch (reply.kind) {
    case "completed":
      return toModelReply(
        { ...reply, toolCalls: [], loadMs: 0 },
        { windowTokens, replyTokens: limit },
      );
    case "too_long":
      return refuse(
        "CONTEXT_OVERFLOW",
        `The prompt takes ${reply.tokens} tokens, and the window of "${name}" has ${windowTokens}, which the reply ` +
          "shares. Raise model.num_ctx, or lower ask.top_n.",
      );
    case "failed":
      throw brokeOff(name, LANGUAGE_MODEL, reply.error);
  }
}

/** Whoever remembers the model forgets it, and finds the new one at the next attempt. */
const changed = (name: string): Failure =>
  new Failure("MODEL_NOT_FOUND", `The file of "${name}" was changed since it was opened.`);
