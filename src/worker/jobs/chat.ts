import { Failure, refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { ChatInput } from "../../shared/job/job.ts";
import { isRecord } from "../../shared/schema/json-value.ts";
import { readDataUrl } from "../../shared/files/picture-data.ts";
import { PROVIDERS } from "../../shared/config/providers.ts";
import { routeChat } from "../../shared/job/route-models.ts";
import type { Outcome } from "../../shared/job/run-result.ts";
import type { RunTrace } from "../run-trace.ts";
import type { PipelineDependencies } from "../evidence/types.ts";
import { THOUGHT_ALONE, ToolCallUnreadable } from "../models/model.ts";
import type { Message, Model, ModelRequest } from "../models/model.ts";
import { callModel, callParts, modelOf, modelUse } from "../answer/call-model.ts";
import { promptOf } from "../answer/prompt.ts";

/**
 * One call of a model: no tools, no evidence, no gate. Refusals: MODEL_UNSUPPORTED, CONTEXT_OVERFLOW, and INVALID_ARGS
 * for a tool call that the host could not read. Throws MODEL_OUTPUT_INVALID for an empty reply.
 */
export async function chatOnce(
  { input }: { readonly jobId: string; readonly input: ChatInput },
  deps: Pick<PipelineDependencies, "offload" | "calls" | "models" | "settings">,
  trace: RunTrace,
  signal: AbortSignal,
): Promise<Outcome> {
  const routed = routeChat(deps.settings.model, input.model);
  const choice = { ...routed, maxTokens: input.max_tokens ?? routed.maxTokens };
  const model = await modelOf(choice, deps.models, signal);
  trace.models([modelUse("second", model, choice)]);
  const unseen = await refusePictures(input, model, deps.settings.model.sees);
  if (unseen !== undefined) return unseen;
  const prompt = promptOf("chat/1", messagesOf(input));
  const reply = await trace.step("chat", () =>
    callModel(
      {
        pass: "chat",
        model,
        choice,
        prompt,
        task: { purpose: "chat" },
        overrides: overridesOf(input),
      },
      callParts(deps, { trace, signal }),
    ).catch((error: unknown) => unreadableCall(error, model.name)),
  );
  trace.detail("chat", { model: model.name, why: choice.why, prompt_sha256: prompt.record.sha256 });
  if (reply.kind === "refused") return reply;
  if (reply.text === "") {
    throw new Failure(
      "MODEL_OUTPUT_INVALID",
      `"${model.name}" replied with nothing. ${reply.doneReason === "thought" ? THOUGHT_ALONE : "Raise max_tokens."}`,
    );
  }
  return { kind: "succeeded", answer: reply.text, scope: null, citations: [], summary: null };
}

/** A tool call that the host can't read is the model's mistake, so it is a refusal and no fault of the machinery. */
function unreadableCall(error: unknown, name: string): Refusal {
  if (!(error instanceof ToolCallUnreadable)) throw error;
  return refuse(
    "INVALID_ARGS",
    `"${name}" called a tool in a way that its host could not read, and a chat has no tools. ` +
      "Say in the prompt that it should answer in words, or use another model.",
  );
}

/** Refuses pictures that the model would silently ignore, and pictures that would cost its host too much to decode. */
async function refusePictures(
  { messages = [] }: ChatInput,
  { name, facts }: Model,
  sees: readonly string[],
): Promise<Refusal | undefined> {
  const urls = messages.flatMap(({ images = [] }) => images);
  if (urls.length === 0) return undefined;
  if (!sees.includes(name) || !PROVIDERS[facts.provider].hasHost) {
    return refuse(
      "MODEL_UNSUPPORTED",
      `"${name}" is not known to see, and the messages hold pictures: name a model of a host in model.sees that does.`,
    );
  }
  const { readPictureHead } = await import("../ocr/read-head.ts");
  for (const [at, url] of urls.entries()) {
    const read = readDataUrl(url);
    const head = typeof read === "string" ? undefined : readPictureHead(read.bytes, 1);
    if (head?.kind === "unreadable") {
      return refuse("INVALID_ARGS", `Picture ${at + 1} of the messages ${head.why}`);
    }
  }
  return undefined;
}

const messagesOf = ({ prompt, messages }: ChatInput): readonly Message[] =>
  messages ?? [{ role: "user", content: prompt ?? "" }];

function overridesOf({
  temperature,
  seed,
  top_p: topP,
  stop,
  response_format: format,
}: ChatInput): Partial<ModelRequest> {
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(seed === undefined ? {} : { seed }),
    ...(topP === undefined ? {} : { topP }),
    ...(stop === undefined ? {} : { stop }),
    ...(format === undefined || format["type"] === "text" ? {} : { format: schemaOf(format) }),
  };
}

/** Accepts OpenAI's description of a format, or a plain JSON schema. */
function schemaOf(format: Readonly<Record<string, unknown>>): NonNullable<ModelRequest["format"]> {
  if (format["type"] === "json_object") return "json";
  const wrapped = format["json_schema"];
  if (format["type"] !== "json_schema" || !isRecord(wrapped)) return format;
  return isRecord(wrapped["schema"]) ? wrapped["schema"] : wrapped;
}
