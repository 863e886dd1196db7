import type { IncomingMessage } from "node:http";
import { HostError, errorTextOf } from "./host-request.ts";
import type { NativeCall } from "./model.ts";
import { nativeCall } from "./native-call.ts";
import { BrokenReply, readLines } from "./read-reply.ts";
import type { ReplyLimits } from "./read-reply.ts";
import { collectReply } from "./streamed-reply.ts";
import type { StreamedReply } from "./streamed-reply.ts";
import { countAt, parseWire, wireAt, wiresAt } from "./wire-json.ts";
import type { Wire } from "./wire-json.ts";

/**
 * Reads a stream of `/api/chat`, a JSON object a line, to the line that says `done`. Calls may stand in any
 * line, also the last; thinking in its own field is dropped.
 *
 * Throws HostError for an error in the middle, ToolCallUnreadable for a call without a name, BrokenReply for anything
 * else that is no such stream, and Failure MODEL_OUTPUT_INVALID for one that is too long.
 */
export async function readOllamaStream(
  response: IncomingMessage,
  name: string,
  limits: ReplyLimits,
): Promise<StreamedReply> {
  const collected = collectReply(limits);
  const toolCalls: NativeCall[] = [];
  for await (const line of readLines(response, limits)) {
    if (line.trim() === "") continue;
    const chunk = parseWire(line);
    if (chunk === null) throw new BrokenReply("a line of it is not a JSON object");
    const message = messageOf(chunk);
    collected.add(contentOf(message));
    for (const wire of wiresAt(message, "tool_calls")) {
      const call = callOf(wire, name);
      collected.call(JSON.stringify(call.args).length);
      toolCalls.push(call);
    }
    if (chunk["done"] === true) return { text: collected.text(), toolCalls, ...metricsOf(chunk) };
  }
  throw new BrokenReply("it ended without saying that it was done");
}

function messageOf(chunk: Wire): Wire {
  const error = errorTextOf(chunk) ?? misplacedError(chunk);
  if (error !== null) throw new HostError(500, error);
  const message = wireAt(chunk, "message");
  if (message === null) throw new BrokenReply("a line of it has no message");
  return message;
}

/** v0.11 put the words "error parsing tool call" where the key belongs. */
const misplacedError = (chunk: Wire): string | null =>
  Object.keys(chunk).find((key) => key.startsWith("error ")) ?? null;

function contentOf(message: Wire): string {
  const content = message["content"] ?? "";
  if (typeof content === "string") return content;
  throw new BrokenReply("a message of it has no text");
}

function callOf(call: Wire, name: string): NativeCall {
  const called = wireAt(call, "function");
  return nativeCall(name, called?.["name"], called?.["arguments"] ?? {});
}

function metricsOf(chunk: Wire): Omit<StreamedReply, "text" | "toolCalls"> {
  const nanoseconds = chunk["load_duration"];
  return {
    finish: chunk["done_reason"] === "length" ? "length" : "stop",
    promptTokens: countAt(chunk, "prompt_eval_count"),
    completionTokens: countAt(chunk, "eval_count"),
    loadMs: isDuration(nanoseconds) ? nanoseconds / 1e6 : 0,
  };
}

/** At most a day: nothing takes longer to load. */
const isDuration = (value: unknown): value is number =>
  typeof value === "number" && value >= 0 && value <= 86_400e9;
