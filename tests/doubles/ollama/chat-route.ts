import type { ServerResponse } from "node:http";
import { rejectOnAbort, writeText } from "../http-double.ts";
import type { RequestRecord } from "../http-double.ts";
import type { ChatRequest } from "./chat-request.ts";
import { fullName, scriptOf } from "./double-model.ts";
import type { Script } from "./double-model.ts";
import { HttpError } from "./http-error.ts";
import type { RunnerOptions, Scheduler, Slot } from "./scheduler.ts";
import { firstTokens, fitToWindow, tokensOf } from "./window.ts";
import type { Fitted } from "./window.ts";

export type ChatContext = {
  readonly scheduler: Scheduler;
  readonly version: "old" | "new";
  readonly defaultNumCtx: number;
  readonly record: RequestRecord;
  readonly changed: () => void;
  readonly signal: AbortSignal;
  /** `chat` puts text under `message`, `generate` under `response`. */
  readonly shape: "chat" | "generate";
};

/** Waits for a slot, then answers as the model's script says; frees the slot whatever happens. */
export async function answerChat(
  request: ChatRequest,
  response: ServerResponse,
  context: ChatContext,
): Promise<void> {
  const { scheduler, signal, record, changed } = context;
  const numCtx = windowOf(request, context);
  if (request.messages.length === 0) {
    await preload(request, response, context);
    return;
  }
  const slot = await scheduler.acquire(runnerOf(request, context), signal);
  if (slot === "busy") throw new HttpError(503, BUSY);
  try {
    record.state = "running";
    changed();
    await generate(request, response, { ...context, numCtx, slot });
  } finally {
    slot.release();
  }
}

export const BUSY = "server busy, please try again.  maximum pending requests exceeded";

function windowOf({ model, options }: ChatRequest, { defaultNumCtx }: ChatContext): number {
  const asked = typeof options["num_ctx"] === "number" ? options["num_ctx"] : defaultNumCtx;
  return Math.min(asked, model.contextLength ?? Number.POSITIVE_INFINITY);
}

function runnerOf(request: ChatRequest, context: ChatContext): RunnerOptions {
  const { record, changed, version } = context;
  return {
    name: fullName(request.model.name),
    numCtx: windowOf(request, context),
    shift: version === "old" || request.shift,
    keepAliveMs: request.keepAliveMs,
    onLoading: () => {
      record.state = "loading";
      changed();
    },
  };
}

async function preload(
  request: ChatRequest,
  response: ServerResponse,
  context: ChatContext,
): Promise<void> {
  const { scheduler, signal, shape } = context;
  const runner = runnerOf(request, context);
  const isUnload = request.keepAliveMs === 0;
  if (isUnload) scheduler.unload(runner.name);
  else {
    const slot = await scheduler.acquire(runner, signal);
    if (slot === "busy") throw new HttpError(503, BUSY);
    slot.release();
  }
  const reason = isUnload ? "unload" : "load";
  sendJson(response, 200, { ...chunk(request, shape, ""), done: true, done_reason: reason });
}

type Generation = ChatContext & { readonly numCtx: number; readonly slot: Slot };

async function generate(
  request: ChatRequest,
  response: ServerResponse,
  context: Generation,
): Promise<void> {
  const { numCtx, version, record, signal } = context;
  const numKeep = typeof request.options["num_keep"] === "number" ? request.options["num_keep"] : 4;
  const { messages, truncate, shift } = request;
  const fitted = fitToWindow({ messages, numCtx, numKeep, version, truncate, shift });
  if (fitted.kind === "too_long") throw new HttpError(400, overflowText(fitted, request, numCtx));
  record.promptTokens = fitted.tokens;
  const script = scriptOf(request.model, fitted.messages, request.body);
  if (script.after !== undefined) await Promise.race([script.after, rejectOnAbort(signal)]);
  if (script.failure !== undefined)
    throw new HttpError(script.failure.status, script.failure.error);
  const cut = cutToLimit(script.text, request, numCtx - fitted.tokens);
  const final = {
    ...chunk(request, context.shape, ""),
    done: true,
    done_reason: cut.reason,
    ...metrics(script.promptEvalCount ?? fitted.tokens, tokensOf(cut.text).length, context.slot),
    ...script.metrics,
  };
  if (request.stream) await stream(request, response, { context, script, text: cut.text, final });
  else sendWhole(request, response, { context, script, text: cut.text, final });
}

function overflowText(
  { tokens, because }: Extract<Fitted, { kind: "too_long" }>,
  { model }: ChatRequest,
  numCtx: number,
): string {
  if (because === "shift" && model.overflowText !== "json") {
    return "the prompt is longer than the context length currently available to the model; increase num_ctx or shorten the prompt";
  }
  const message = `request (${tokens} tokens) exceeds the available context size (${numCtx} tokens), try increasing it`;
  return JSON.stringify({ error: { code: 400, message, type: "exceed_context_size_error" } });
}

/** num_predict and the rest of the window bound a reply. */
function cutToLimit(
  text: string,
  { options }: ChatRequest,
  windowLeft: number,
): { text: string; reason: "stop" | "length" } {
  const asked = typeof options["num_predict"] === "number" ? options["num_predict"] : -1;
  const limit = Math.min(asked < 0 ? Number.POSITIVE_INFINITY : asked, Math.max(0, windowLeft));
  if (tokensOf(text).length <= limit) return { text, reason: "stop" };
  return { text: firstTokens(text, limit), reason: "length" };
}

/** Durations are nanoseconds; zeros are left out. */
function metrics(promptTokens: number, replyTokens: number, slot: Slot): Record<string, number> {
  const all = {
    total_duration: slot.loadMs * 1e6 + 1_000_000,
    load_duration: slot.loadMs * 1e6,
    prompt_eval_count: promptTokens,
    prompt_eval_duration: promptTokens * 1000,
    eval_count: replyTokens,
    eval_duration: replyTokens * 1000,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== 0));
}

const chunk = (
  { asked }: ChatRequest,
  shape: ChatContext["shape"],
  text: string,
): Record<string, unknown> => ({
  model: asked,
  created_at: new Date(0).toISOString(),
  ...(shape === "chat" ? { message: { role: "assistant", content: text } } : { response: text }),
  done: false,
});

type Reply = {
  readonly context: Generation;
  readonly script: Script;
  readonly text: string;
  readonly final: Record<string, unknown>;
};

async function stream(
  request: ChatRequest,
  response: ServerResponse,
  { context, script, text, final }: Reply,
): Promise<void> {
  const { shape, signal } = context;
  const { ending = "done", write } = script;
  const send = (line: unknown): Promise<void> => writeText(response, `${goJson(line)}\n`, write);
  const pieces = text.match(/\S+\s*|\s+/g) ?? [];
  const rest = ending === "done" || ending === "no_final_line" ? pieces.slice(2) : [];
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  if (script.thinking !== undefined) await send(message(request, { thinking: script.thinking }));
  for (const piece of pieces.slice(0, 2)) await send(chunk(request, shape, piece));
  if (script.pause !== undefined) await Promise.race([script.pause, rejectOnAbort(signal)]);
  for (const piece of rest) await send(chunk(request, shape, piece));
  if (ending === "socket_dies") {
    response.destroy();
    return;
  }
  if (ending === "error_line") await send({ error: script.errorText ?? RUNNER_DIED });
  if (ending === "broken_line") response.write('{"model":"x","message":{"role":"assis\n');
  if (ending === "done" || ending === "broken_line") {
    for (const line of lastLines(request, script, final)) await send(line);
  }
  response.end();
}

function lastLines(
  request: ChatRequest,
  { toolCalls, toolCallsIn = "own_line" }: Script,
  final: Record<string, unknown>,
): object[] {
  if (toolCalls === undefined) return [final];
  const tool_calls = toolCalls.map(({ name, args }, index) => ({
    id: `call_${index}`,
    function: { index, name, arguments: args },
  }));
  const called = message(request, { tool_calls });
  return toolCallsIn === "own_line"
    ? [called, final]
    : [{ ...called, ...final, message: called.message }];
}

const message = (request: ChatRequest, more: object): { message: object } => ({
  ...chunk(request, "chat", ""),
  message: { role: "assistant", content: "", ...more },
});

const RUNNER_DIED = "an error was encountered while running the model: unexpected EOF";

function sendWhole(
  request: ChatRequest,
  response: ServerResponse,
  { context, script, text, final }: Reply,
): void {
  const whole = chunk(request, context.shape, text);
  if (script.ending === "socket_dies") response.destroy();
  else if (script.ending === "error_line") throw new HttpError(500, RUNNER_DIED);
  else if (script.ending === "no_final_line") sendJson(response, 200, whole);
  else sendJson(response, 200, { ...final, ...whole, done: true });
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" });
  response.end(goJson(body));
}

const GO_ESCAPES: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
};

/** Go's encoder escapes what HTML would read. */
const goJson = (value: unknown): string =>
  JSON.stringify(value).replace(/[<>&]/g, (char) => GO_ESCAPES[char] ?? char);
