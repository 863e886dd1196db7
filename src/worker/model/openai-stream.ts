import type { IncomingMessage } from "node:http";
import { HostError, errorTextOf } from "./host-request.ts";
import type { NativeCall } from "./model.ts";
import { collectToolCalls } from "./openai-tool-calls.ts";
import { readEvents } from "./read-events.ts";
import type { ServerEvent } from "./read-events.ts";
import { BrokenReply, invalidReply } from "./read-reply.ts";
import type { ReplyLimits } from "./read-reply.ts";
import { collectReply } from "./streamed-reply.ts";
import type { StreamedReply } from "./streamed-reply.ts";
import { countAt, parseWire, textAt, wireAt, wiresAt } from "./wire-json.ts";
import type { Wire } from "./wire-json.ts";

/**
 * Reads a stream of `/v1/chat/completions` to `[DONE]`, or to its end: some hosts leave that out, and then the
 * `finish_reason` says whether it is whole. Reasoning in its own field is dropped.
 *
 * Throws HostError for an error in the middle, ToolCallUnreadable for a call whose arguments are no JSON, BrokenReply
 * for an end too early or an event that is no JSON, and Failure MODEL_OUTPUT_INVALID for an end for another reason and
 * for a stream that is too long.
 */
export async function readOpenAiStream(
  response: IncomingMessage,
  name: string,
  limits: ReplyLimits,
): Promise<StreamedReply> {
  const collected = collectReply(limits);
  const tools = collectToolCalls(name);
  let reason: string | null = null;
  let usage: Wire | null = null;
  for await (const event of readEvents(response, limits)) {
    if (event.data === "[DONE]") break;
    const chunk = chunkOf(event);
    const [choice] = wiresAt(chunk, "choices");
    // A host that does not stream puts all of it where a stream has its pieces.
    const delta = wireAt(choice, "delta") ?? wireAt(choice, "message");
    collected.add(textAt(delta, "content") ?? "");
    for (const call of wiresAt(delta, "tool_calls")) tools.add(call);
    reason = textAt(choice, "finish_reason") ?? reason;
    usage = wireAt(chunk, "usage") ?? usage;
  }
  return {
    text: collected.text(),
    finish: finishOf(reason),
    toolCalls: counted(tools.calls(), collected),
    promptTokens: countAt(usage, "prompt_tokens"),
    completionTokens: countAt(usage, "completion_tokens"),
    loadMs: 0,
  };
}

/** Arguments came in pieces, and some as objects: they are counted when they are put together. */
function counted(
  calls: readonly NativeCall[],
  { call }: ReturnType<typeof collectReply>,
): readonly NativeCall[] {
  for (const { args } of calls) call(JSON.stringify(args).length);
  return calls;
}

function chunkOf({ kind, data }: ServerEvent): Wire {
  const chunk = parseWire(data);
  if (kind === "error") throw new HostError(500, errorTextOf(chunk) ?? "the host gave no reason");
  if (chunk === null) throw new BrokenReply("an event of it is not a JSON object");
  if ("choices" in chunk && !("error" in chunk)) return chunk;
  const error = errorTextOf(chunk);
  if (error !== null) throw new HostError(statusOf(chunk), error);
  return chunk;
}

/** llama.cpp and vLLM repeat in the error the status that it would have had. */
function statusOf(chunk: Wire): number {
  const code = countAt(wireAt(chunk, "error") ?? chunk, "code");
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
