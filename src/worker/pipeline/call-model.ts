import { createHash } from "node:crypto";
import { Failure } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { ModelUse, ReplyRecord } from "../../shared/run-result.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import type { Model, ModelRegistry, ModelReply, ModelRequest, ModelTask } from "../model/model.ts";
import { cleanText } from "./text/clean-text.ts";
import type { CallLog, RecordedReply } from "./pipeline-dependencies.ts";
import type { Prompt } from "./prompts/prompt.ts";
import type { ModelChoice } from "../../shared/route-models.ts";

export type ModelCall = {
  readonly pass: ReplyRecord["pass"];
  readonly model: Model;
  readonly choice: ModelChoice;
  readonly prompt: Prompt;
  readonly task: ModelTask;
  readonly overrides?: Pick<ModelRequest, "temperature" | "format" | "tools">;
};

/** What a call needs of its run. */
export type CallParts = {
  readonly calls: CallLog;
  readonly trace: RunTrace;
  readonly signal: AbortSignal;
};

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

/** The record of who takes a pass and why. */
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
    digest: facts.digest,
    quantization: facts.quantization,
    server_version: facts.serverVersion,
    window_tokens: facts.windowTokens,
    max_tokens: maxTokens,
    tool_protocol: facts.toolProtocol,
    options: facts.options,
  },
});

/**
 * One call of a model, committed as it returns. A request that an earlier attempt of the job made already is not
 * made again: the reply of then is taken, so that a run that was killed goes on where it stopped.
 */
export async function callModel(
  call: ModelCall,
  { calls, trace, signal }: CallParts,
): Promise<ModelReply | Refusal> {
  const { pass, model, prompt } = call;
  const requestSha256 = hashRequest(call);
  const earlier = await calls.recall(requestSha256);
  const { reply, durationMs } = earlier ?? (await ask(call, signal));
  const kept = keptHow(model, reply);
  if (earlier === undefined && kept === "as_returned") {
    await calls.commit({
      pass,
      requestSha256,
      model: model.name,
      modelDigest: model.facts.digest,
      prompt: prompt.record,
      reply,
      durationMs,
    });
  }
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
    origin: earlier === undefined ? "asked" : "reused",
    kept,
  });
  return reply;
}

/** What a model without language says takes no time and is the same each time: nothing is lost with its run. */
const keptHow = ({ facts }: Model, reply: RecordedReply["reply"]): ReplyRecord["kept"] =>
  facts.provider === "extractive" && reply.kind === "reply" ? "with_run" : "as_returned";

async function ask(
  { model, choice, prompt, task, overrides }: ModelCall,
  signal: AbortSignal,
): Promise<RecordedReply> {
  const { maxTokens, timeoutMs } = choice;
  const startedAt = performance.now();
  const { messages } = prompt;
  const request = { messages, task, maxTokens, timeoutMs, ...overrides };
  const reply = await model.complete(request, signal);
  const durationMs = performance.now() - startedAt;
  return reply.kind === "refused"
    ? { reply, durationMs }
    : { reply: { ...reply, text: cleanText(reply.text) }, durationMs };
}

/** SHA-256 of all that decides a reply: who is asked, with which options, what, and within which bounds. */
const hashRequest = ({ model, choice, prompt, overrides }: ModelCall): string =>
  createHash("sha256")
    .update(
      JSON.stringify([
        model.name,
        model.facts.digest,
        Object.entries(model.facts.options).sort(([one], [other]) => (one < other ? -1 : 1)),
        prompt.record.sha256,
        choice.maxTokens,
        overrides?.temperature ?? null,
        overrides?.format ?? null,
        overrides?.tools ?? null,
      ]),
    )
    .digest("hex");
