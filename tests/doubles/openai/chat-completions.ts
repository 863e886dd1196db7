import type { ServerResponse } from "node:http";
import { rejectOnAbort, writeText } from "../http-double.ts";
import type { Body, RouteContext } from "../http-double.ts";
import { sendJson } from "../ollama/chat-route.ts";
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
  /** The window that all requests share, and what of it is in use. */
  readonly pool: { readonly tokens: number; used: number };
};

/** Answers one request of /v1/chat/completions, as a stream or whole, when a slot is free. */
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
    context.pool.used -= record.promptTokens ?? 0;
    release();
  }
}

function modelOf({ body, models, flavour }: ChatContext): DoubleModel {
  const asked = String(body["model"]);
  // llama.cpp with one model does not look at the name.
  const only = flavour === "llama.cpp" && models.length === 1 ? models[0] : undefined;
  const model = only ?? models.find(({ name }) => name === asked);
  if (model === undefined) throw new HttpError(404, MISSING[flavour](asked));
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

export const messagesOf = (body: Body): DoubleMessage[] =>
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
  context.pool.used += fitted.tokens;
  const script = scriptOf(model, fitted.messages, body);
  const reply = { script, context, promptTokens: fitted.tokens };
  const streams = body["stream"] === true;
  // llama.cpp sends headers when a slot takes the request, before it reads the prompt.
  if (flavour === "llama.cpp" && streams && script.failure === undefined) begin(response);
  if (context.pool.used > context.pool.tokens) {
    const error = { code: 500, message: "Context size has been exceeded.", type: "server_error" };
    begin(response);
    response.end(`data: ${JSON.stringify({ error })}\n\n`);
    return;
  }
  if (script.after !== undefined) await Promise.race([script.after, rejectOnAbort(signal)]);
  if (script.failure !== undefined) {
    throw new HttpError(script.failure.status, script.failure.error);
  }
  if (streams) await stream(response, reply);
  else sendWhole(response, reply);
}

function begin(response: ServerResponse): void {
  if (response.headersSent) return;
  response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
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
  if (flavour === "vllm") {
    const words = `This model's maximum context length is ${windowTokens} tokens. However, you requested ${tokens} tokens.`;
    throw new HttpError(400, words);
  }
  throw new HttpError(
    400,
    `request (${tokens} tokens) exceeds the available context size (${windowTokens} tokens), try increasing it`,
    { type: "exceed_context_size_error", n_prompt_tokens: tokens, n_ctx: windowTokens },
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
  begin(response);
  await send(chunk({ role: "assistant", content: FIRST_CONTENT[context.flavour] }));
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
const FIRST_CONTENT = { "llama.cpp": null, vllm: "", "lm-studio": "", bare: "" } as const;

/** The same in one piece, for a request that does not ask for a stream. */
function sendWhole(response: ServerResponse, reply: Reply): void {
  const { kept, reason } = cut(reply.script.text, reply);
  const calls = (reply.script.toolCalls ?? []).map(({ name, args }, index) => ({
    id: `call_${index}`,
    type: "function",
    function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
  }));
  const message = {
    role: "assistant",
    content: kept,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  sendJson(response, 200, {
    id: "chatcmpl-1",
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: calls.length > 0 ? "tool_calls" : reason }],
    ...costOf(reply, kept),
  });
}

const chunk = (delta: object, finish: string | null = null): object => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason: finish }],
});

/** The first of the stop words, or one of both limits, ends a text. */
function cut(script: string, { context, promptTokens }: Reply): { kept: string; reason: string } {
  const stops = [context.body["stop"] ?? []].flat().map(String);
  const ends = stops.map((stop) => script.indexOf(stop)).filter((place) => place !== -1);
  const text = script.slice(0, Math.min(script.length, ...ends));
  const asked = context.body["max_tokens"];
  const limit = Math.min(
    typeof asked === "number" ? asked : Number.POSITIVE_INFINITY,
    Math.max(0, context.windowTokens - promptTokens),
  );
  if (tokensOf(text).length <= limit) return { kept: text, reason: "stop" };
  return { kept: firstTokens(text, limit), reason: "length" };
}

/** Arguments come in two pieces, and usage in an event without choices. */
function lastEvents(reply: Reply, text: string, reason: string) {
  const { script, context } = reply;
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
  const options = context.body["stream_options"] as Body | undefined;
  return [
    ...deltas.map((delta) => chunk({ tool_calls: [delta] })),
    chunk({}, calls.length > 0 ? "tool_calls" : reason),
    ...(options?.["include_usage"] === true ? [{ choices: [], ...costOf(reply, text) }] : []),
  ];
}

/** llama.cpp tells beside the counts what it had in its cache, and how long it took. */
function costOf({ script, context, promptTokens }: Reply, text: string): object {
  const completion = tokensOf(text).length;
  const usage = {
    prompt_tokens: script.promptEvalCount ?? promptTokens,
    completion_tokens: completion,
    ...script.metrics,
  };
  if (context.flavour !== "llama.cpp") return { usage };
  const total = { total_tokens: promptTokens + completion };
  return {
    usage: { ...usage, ...total, prompt_tokens_details: { cached_tokens: 0 } },
    timings: { cache_n: 0, prompt_n: promptTokens, predicted_n: completion },
  };
}

function errorEvent({ script, context }: Reply): string {
  const message = script.errorText ?? "the engine died";
  const error = JSON.stringify({ code: 500, message, type: "server_error" });
  switch (context.flavour) {
    case "lm-studio":
      return `event: error\ndata: {"error":${error}}\n\n`;
    case "llama.cpp":
    case "vllm":
    case "bare":
      return `data: {"error":${error}}\n\n`;
  }
}
