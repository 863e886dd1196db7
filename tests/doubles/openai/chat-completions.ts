import type { ServerResponse } from "node:http";
import { rejectOnAbort, writeText } from "../http-double.ts";
import type { Body, RouteContext } from "../http-double.ts";
import { scriptOf } from "../ollama/double-model.ts";
import type { DoubleMessage, DoubleModel, Script } from "../ollama/double-model.ts";
import { HttpError } from "../ollama/http-error.ts";
import { countTokens, firstTokens, fitToWindow, tokensOf } from "../ollama/window.ts";
import type { Slots } from "./slots.ts";

/** Whose routes, words and habits the double has; `bare` has nothing but what OpenAI's protocol says. */
export type Flavour = "llama.cpp" | "vllm" | "lm-studio" | "bare";

export type ChatContext = RouteContext & {
  readonly models: readonly DoubleModel[];
  readonly flavour: Flavour;
  readonly windowTokens: number;
  readonly slots: Slots;
};

/** Answers one request of /v1/chat/completions as a stream, when a slot is free. */
export async function answerCompletion(
  context: ChatContext,
  response: ServerResponse,
): Promise<void> {
  const { body, record, signal, slots, changed } = context;
  const model = modelOf(context);
  const release = await slots.take(signal);
  try {
    record.state = "running";
    changed();
    await complete(model, messagesOf(body), context, response);
  } finally {
    release();
  }
}

function modelOf({ body, models, flavour }: ChatContext): DoubleModel {
  const asked = String(body["model"]);
  const model = models.find(({ name }) => name === asked);
  if (model === undefined) throw new HttpError(404, MISSING[flavour](asked));
  if (body["stream"] !== true) throw new HttpError(400, "the double only streams");
  const isEmbedding = model.capabilities?.includes("completion") === false;
  if (isEmbedding) throw new HttpError(501, "This server does not support completions.");
  if (flavour === "vllm" && "tools" in body && model.capabilities?.includes("tools") !== true) {
    throw new HttpError(400, '"auto" tool choice requires --enable-auto-tool-choice to be set');
  }
  return model;
}

const MISSING: Readonly<Record<Flavour, (name: string) => string>> = {
  "llama.cpp": (name) => `model '${name}' not found`,
  vllm: (name) => `The model \`${name}\` does not exist.`,
  "lm-studio": (name) => `Invalid model identifier "${name}".`,
  bare: (name) => `model "${name}" not found`,
};

const messagesOf = (body: Body): DoubleMessage[] =>
  (body["messages"] as Body[]).map(({ role, content }) => ({
    role: String(role),
    content: String(content),
  }));

async function complete(
  model: DoubleModel,
  messages: readonly DoubleMessage[],
  context: ChatContext,
  response: ServerResponse,
): Promise<void> {
  const { body, record, signal, flavour, windowTokens } = context;
  const tokens = countTokens(messages);
  if (tokens > windowTokens && flavour !== "bare") {
    await refuseLength(context, tokens, response);
    return;
  }
  const fitted = fitToWindow({
    messages,
    numCtx: windowTokens,
    numKeep: 4,
    version: "old",
    truncate: true,
    shift: true,
  });
  if (fitted.kind === "too_long") throw new HttpError(500, "the double can't fit the prompt");
  record.promptTokens = fitted.tokens;
  const script = scriptOf(model, fitted.messages, body);
  if (script.after !== undefined) await Promise.race([script.after, rejectOnAbort(signal)]);
  if (script.failure !== undefined) {
    throw new HttpError(script.failure.status, script.failure.error);
  }
  await stream(response, { script, context, promptTokens: fitted.tokens });
}

/** LM Studio says it under status 200, in the stream that it has begun. */
async function refuseLength(
  { flavour, windowTokens }: ChatContext,
  tokens: number,
  response: ServerResponse,
): Promise<void> {
  if (flavour === "lm-studio") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const error = `Trying to keep the first ${tokens} tokens when context the overflows. However, the model is loaded with context length of only ${windowTokens} tokens.`;
    response.end(`event: error\ndata: ${JSON.stringify({ error: { message: error } })}\n\n`);
    return;
  }
  throw new HttpError(
    400,
    flavour === "vllm"
      ? `This model's maximum context length is ${windowTokens} tokens. However, you requested ${tokens} tokens.`
      : `request (${tokens} tokens) exceeds the available context size (${windowTokens} tokens), try increasing it`,
  );
}

type Reply = {
  readonly script: Script;
  readonly context: ChatContext;
  readonly promptTokens: number;
};

async function stream(response: ServerResponse, reply: Reply): Promise<void> {
  const { script, context } = reply;
  const { ending = "done", write, text } = script;
  const { kept, reason } = cut(text, reply);
  const send = (event: unknown): Promise<void> =>
    writeText(response, `data: ${JSON.stringify(event)}\n\n`, write);
  const pieces = kept.match(/\S+\s*|\s+/g) ?? [];
  const rest = ending === "done" || ending === "no_final_line" ? pieces.slice(2) : [];
  response.writeHead(200, { "content-type": "text/event-stream" });
  await send(chunk({ role: "assistant", content: "" }));
  if (script.thinking !== undefined) await send(chunk({ [THINKING_IN]: script.thinking }));
  for (const content of pieces.slice(0, 2)) await send(chunk({ content }));
  if (script.pause !== undefined) await Promise.race([script.pause, rejectOnAbort(context.signal)]);
  for (const content of rest) await send(chunk({ content }));
  if (ending === "socket_dies") {
    response.destroy();
    return;
  }
  if (ending === "error_line") await writeText(response, errorEvent(reply));
  if (ending === "broken_line") response.write('data: {"choices":[{"delta":{"con\n\n');
  if (ending === "done") {
    for (const event of lastEvents(reply, kept, reason)) await send(event);
    await writeText(response, "data: [DONE]\n\n");
  }
  response.end();
}

const THINKING_IN = "reasoning_content";

const chunk = (delta: object, finish: string | null = null): object => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason: finish }],
});

function cut(text: string, { context, promptTokens }: Reply): { kept: string; reason: string } {
  const asked = context.body["max_tokens"];
  const limit = Math.min(
    typeof asked === "number" ? asked : Number.POSITIVE_INFINITY,
    Math.max(0, context.windowTokens - promptTokens),
  );
  if (tokensOf(text).length <= limit) return { kept: text, reason: "stop" };
  return { kept: firstTokens(text, limit), reason: "length" };
}

/** Arguments come in two pieces, and usage in an event without choices. */
function lastEvents({ script, context, promptTokens }: Reply, text: string, reason: string) {
  const calls = script.toolCalls ?? [];
  const deltas = calls.flatMap(({ name, args }, index) => {
    const json = typeof args === "string" ? args : JSON.stringify(args);
    const half = Math.ceil(json.length / 2);
    return [
      { index, id: `call_${index}`, type: "function", function: { name, arguments: "" } },
      { index, function: { arguments: json.slice(0, half) } },
      { index, function: { arguments: json.slice(half) } },
    ];
  });
  const usage = {
    prompt_tokens: script.promptEvalCount ?? promptTokens,
    completion_tokens: tokensOf(text).length,
    ...script.metrics,
  };
  const options = context.body["stream_options"] as Body | undefined;
  return [
    ...deltas.map((delta) => chunk({ tool_calls: [delta] })),
    chunk({}, calls.length > 0 ? "tool_calls" : reason),
    ...(options?.["include_usage"] === true ? [{ choices: [], usage }] : []),
  ];
}

function errorEvent({ script, context }: Reply): string {
  const message = script.errorText ?? "the engine died";
  const error = JSON.stringify({ code: 500, message, type: "server_error" });
  switch (context.flavour) {
    case "lm-studio":
      return `event: error\ndata: {"error":${error}}\n\n`;
    case "llama.cpp":
      return `error: ${error}\n\n`;
    case "vllm":
    case "bare":
      return `data: {"error":${error}}\n\n`;
  }
}
