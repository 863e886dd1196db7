import type { IncomingMessage } from "node:http";
import { isRecord, parseJson } from "../../shared/schema/json-value.ts";
import {
  BrokenReply,
  countAt,
  errorTextOf,
  HostError,
  invalidReply,
  parseWire,
  readLines,
  textAt,
  wireAt,
  wiresAt,
} from "./host-request.ts";
import type { ReplyLimits, Wire } from "./host-request.ts";
import { ToolCallUnreadable } from "./model.ts";
import type { NativeCall } from "./model.ts";
import { collectReply, nativeCall } from "./streamed-reply.ts";
import type { StreamedReply } from "./streamed-reply.ts";

/**
 * Reads a stream of `/v1/chat/completions` to `[DONE]`, or to its end: some hosts omit `[DONE]`, and then the
 * `finish_reason` shows whether the stream is complete.
 *
 * Throws HostError for an error in the middle, ToolCallUnreadable for a call whose arguments are no JSON, BrokenReply
 * for an early end or an event that is no JSON, and Failure MODEL_OUTPUT_INVALID for an unknown `finish_reason` and for a
 * stream that is too long.
 */
export async function readOpenAiStream(
  response: IncomingMessage,
  name: string,
  limits: ReplyLimits,
): Promise<StreamedReply> {
  const collected = collectReply(limits);
  const reasoning: string[] = [];
  const tools = collectToolCalls(name);
  let reason: string | null = null;
  let usage: Wire | null = null;
  for await (const event of readEvents(response, limits)) {
    if (event.data === "[DONE]") break;
    const chunk = chunkOf(event);
    const [choice] = wiresAt(chunk, "choices");
    // A host that does not stream sends the whole message where a stream has deltas.
    const delta = wireAt(choice, "delta") ?? wireAt(choice, "message");
    const content = contentOf(delta);
    collected.add(content.text);
    reasoning.push(reasoningOf(delta), content.thought);
    for (const call of wiresAt(delta, "tool_calls")) tools.add(call);
    reason = textAt(choice, "finish_reason") ?? reason;
    usage = wireAt(chunk, "usage") ?? usage;
  }
  return {
    text: collected.text(),
    reasoning: reasoning.join(""),
    finish: finishOf(reason),
    toolCalls: countCalls(tools.calls(), collected),
    promptTokens: countAt(usage, "prompt_tokens"),
    completionTokens: countAt(usage, "completion_tokens"),
    loadMs: 0,
  };
}

/** Content is a text, or a list of pieces: Mistral's server puts thoughts among them. */
function contentOf(delta: Wire | null): { readonly text: string; readonly thought: string } {
  const whole = textAt(delta, "content");
  if (whole !== null) return { text: whole, thought: "" };
  const pieces = wiresAt(delta, "content");
  const textsOf = (wires: readonly Wire[]): string =>
    wires.map((piece) => textAt(piece, "text") ?? "").join("");
  return {
    text: textsOf(pieces),
    thought: pieces.map((piece) => textsOf(wiresAt(piece, "thinking"))).join(""),
  };
}

/** First the field of llama.cpp, vLLM, DeepSeek and SGLang, then that of newer vLLM, OpenRouter and Ollama; some send both. */
const reasoningOf = (delta: Wire | null): string =>
  textAt(delta, "reasoning_content") ?? textAt(delta, "reasoning") ?? "";

/** Counts arguments after they are complete, because they arrive in pieces, and some as objects. */
function countCalls(
  calls: readonly NativeCall[],
  { call }: ReturnType<typeof collectReply>,
): readonly NativeCall[] {
  for (const { args } of calls) call(JSON.stringify(args).length);
  return calls;
}

function chunkOf({ kind, data }: ServerEvent): Wire {
  const chunk = parseWire(data);
  if (kind === "error") {
    throw new HostError(statusOf(chunk), errorTextOf(chunk) ?? "the host gave no reason");
  }
  if (chunk === null) throw new BrokenReply("an event of it is not a JSON object");
  if ("choices" in chunk && !("error" in chunk)) return chunk;
  const error = errorTextOf(chunk);
  if (error !== null) throw new HostError(statusOf(chunk), error);
  return chunk;
}

/** llama.cpp and vLLM repeat in the error the status that the response would have had; OpenAI has words. */
export function statusOf(chunk: Wire | null): number {
  const error = wireAt(chunk, "error") ?? chunk;
  if (textAt(error, "code") === "rate_limit_exceeded") return 429;
  const code = countAt(error, "code");
  return code >= 400 && code < 600 ? code : 500;
}

function finishOf(reason: string | null): StreamedReply["finish"] {
  switch (reason) {
    case "stop":
    case "eos":
    case "tool_calls":
    case "function_call":
      return "stop";
    case "length":
      return "length";
    case null:
      throw new BrokenReply("it ended without saying that it was done");
    default:
      throw invalidReply(`it ended with "${reason.slice(0, 40)}"`);
  }
}

type StartedCall = { name: string; readonly pieces: string[]; object: Wire | null };

/** Assembles the calls of a stream, whose names and arguments arrive in pieces. */
function collectToolCalls(model: string): {
  add(delta: Wire): void;
  calls(): readonly NativeCall[];
} {
  const started = new Map<unknown, StartedCall>();
  let last: unknown = 0;
  return {
    add(delta) {
      // Some hosts do not number calls: a new id begins a new one.
      last = delta["index"] ?? textAt(delta, "id") ?? last;
      const call = started.get(last) ?? { name: "", pieces: [], object: null };
      started.set(last, call);
      extendCall(call, wireAt(delta, "function"));
    },
    calls: () => [...started.values()].map((call) => finishCall(call, model)),
  };
}

function extendCall(call: StartedCall, called: Wire | null): void {
  call.name ||= textAt(called, "name") ?? "";
  const args = called?.["arguments"];
  if (typeof args === "string") call.pieces.push(args);
  if (isRecord(args)) call.object = args;
}

/** Arguments are JSON in a string; an empty one means no arguments, and some hosts encode it twice. */
function finishCall({ name, pieces, object }: StartedCall, model: string): NativeCall {
  if (object !== null) return nativeCall(model, name, object);
  const text = pieces.join("");
  if (text.trim() === "") return nativeCall(model, name, {});
  const once = parseJson(text);
  const args = typeof once === "string" ? parseJson(once) : once;
  if (args === undefined) throw new ToolCallUnreadable(model, null);
  return nativeCall(model, name, args);
}

/** An event of a stream of server-sent events. */
export type ServerEvent = { readonly kind: "data" | "error"; readonly data: string };

/**
 * Yields the events of a stream as they arrive, bounded like readLines. Comments and unused fields are skipped. A line that
 * begins an object is an event of its own: a host that does not stream, or fails before it does, answers with JSON under
 * status 200. llama.cpp writes the data of an error into a field named `error`.
 */
export async function* readEvents(
  response: IncomingMessage,
  limits: Pick<ReplyLimits, "bytes">,
): AsyncGenerator<ServerEvent> {
  let kind: ServerEvent["kind"] = "data";
  let data: string[] = [];
  for await (const line of readLines(response, limits)) {
    if (line === "") {
      if (data.length > 0) yield { kind, data: data.join("\n") };
      kind = "data";
      data = [];
    } else if (line.startsWith("{")) {
      yield { kind: "data", data: line };
    } else {
      const { field, value } = splitField(line);
      if (field === "data" || field === "error") data.push(value);
      if (field === "event" && value === "error") kind = "error";
    }
  }
  if (data.length > 0) yield { kind, data: data.join("\n") };
}

function splitField(line: string): { field: string; value: string } {
  const colon = line.indexOf(":");
  if (colon === -1) return { field: line, value: "" };
  const start = line.startsWith(" ", colon + 1) ? colon + 2 : colon + 1;
  return { field: line.slice(0, colon), value: line.slice(start) };
}
