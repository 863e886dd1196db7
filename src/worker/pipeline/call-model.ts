import { Failure } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { ReplyRecord } from "../../shared/run-result.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import type { Model, ModelRegistry, ModelReply, ModelRequest, ModelTask } from "../model/model.ts";
import { cleanText } from "./clean-text.ts";
import type { Prompt } from "./prompts/prompt.ts";
import type { ModelChoice } from "./route-models.ts";

export type ModelCall = {
  readonly pass: ReplyRecord["pass"];
  readonly model: Model;
  readonly choice: ModelChoice;
  readonly prompt: Prompt;
  readonly task: ModelTask;
  readonly overrides?: Pick<ModelRequest, "temperature" | "format">;
};

/** The model of a choice. Throws Failure MODEL_NOT_FOUND where none is configured or the name is unknown. */
export function modelOf(choice: ModelChoice, models: ModelRegistry): Model {
  if (choice.name !== null) return models.get(choice.name);
  throw new Failure(
    "MODEL_NOT_FOUND",
    `No model is configured. Set model.name, or model.provider: extractive to work without one.`,
  );
}

/** One call of a model, with its record: reply without thinking, tokens, time, hash of the prompt. */
export async function callModel(
  { pass, model, choice, prompt, task, overrides }: ModelCall,
  trace: RunTrace,
  signal: AbortSignal,
): Promise<ModelReply | Refusal> {
  const { maxTokens, timeoutMs } = choice;
  const startedAt = performance.now();
  const { messages } = prompt;
  const reply = await model.complete(
    { messages, task, maxTokens, timeoutMs, ...overrides },
    signal,
  );
  if (reply.kind === "refused") return reply;
  const text = cleanText(reply.text);
  trace.reply({
    pass,
    model: model.name,
    text,
    promptTokens: reply.promptTokens,
    completionTokens: reply.completionTokens,
    durationMs: performance.now() - startedAt,
    promptSha256: prompt.sha256,
  });
  return { ...reply, text };
}
