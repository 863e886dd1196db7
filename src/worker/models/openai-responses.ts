import type { IncomingMessage } from "node:http";
import { parseJson } from "../../shared/schema/json-value.ts";
import {
  BrokenReply,
  countAt,
  errorTextOf,
  HostError,
  invalidReply,
  parseWire,
  textAt,
  wireAt,
  wiresAt,
} from "./host-request.ts";
import type { ReplyLimits, Wire } from "./host-request.ts";
import { ToolCallUnreadable } from "./model.ts";
import type { ModelRequest, NativeCall } from "./model.ts";
import { readEvents, statusOf } from "./openai-stream.ts";
import { collectReply, nativeCall } from "./streamed-reply.ts";
import type { StreamedReply } from "./streamed-reply.ts";

type Sampling = { readonly temperature: number };

/**
 * The body of a call of `/v1/responses`, as a stream that the host does not store. The protocol has no seed and no stop, so
 * these are left out.
 */
export const responsesRequest = (
  name: string,
  settings: Sampling,
  { messages, maxTokens, temperature, topP, format, tools, toolChoice }: ModelRequest,
): object => ({
  model: name,
  input: messages.map(({ role, content, images }) => ({
    role,
    content:
      images === undefined
        ? content
        : [
            { type: "input_text", text: content },
            ...images.map((url) => ({ type: "input_image", image_url: url })),
          ],
  })),
  stream: true,
  store: false,
  max_output_tokens: maxTokens,
  temperature: temperature ?? settings.temperature,
  ...(topP === undefined ? {} : { top_p: topP }),
  ...(format === undefined ? {} : { text: { format: formatOf(format) } }),
  ...(tools === undefined
    ? {}
    : { tools: tools.map((tool) => ({ type: "function", ...tool, strict: false })) }),
  ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
});

const formatOf = (format: NonNullable<ModelRequest["format"]>): object => ({
  type: "json_schema",
  name: "reply",
  strict: true,
  schema: format === "json" ? { type: "object" } : format,
});

/**
 * Reads a stream of `/v1/responses` up to the event that ends it. Text arrives in pieces, calls as whole items.
 *
 * Throws HostError for a failed response, ToolCallUnreadable for a call whose arguments are no JSON, BrokenReply for an early
 * end or an event that is no JSON, and Failure MODEL_OUTPUT_INVALID for a response that is too long, or incomplete for a
 * reason other than its length.
 */
export async function readResponsesStream(
  response: IncomingMessage,
  name: string,
  limits: ReplyLimits,
): Promise<StreamedReply> {
  const collected = collectReply(limits);
  const reasoning: string[] = [];
  const toolCalls: NativeCall[] = [];
  let ended: Wire | null = null;
  for await (const { kind, data } of readEvents(response, limits)) {
    if (data === "[DONE]") break;
    const event = parseWire(data);
    if (kind === "error") throw failedResponse(event);
    if (event === null) throw new BrokenReply("an event of it is not a JSON object");
    switch (textAt(event, "type")) {
      case "response.output_text.delta":
        collected.add(textAt(event, "delta") ?? "");
        break;
      case "response.reasoning_text.delta":
      case "response.reasoning_summary_text.delta":
        reasoning.push(textAt(event, "delta") ?? "");
        break;
      case "response.output_item.done": {
        const call = callOf(wireAt(event, "item"), name);
        if (call === null) break;
        collected.call(JSON.stringify(call.args).length);
        toolCalls.push(call);
        break;
      }
      case "response.completed":
      case "response.incomplete":
        ended = wireAt(event, "response");
        break;
      case "response.failed":
        throw failedResponse(wireAt(event, "response"));
      case "error":
        throw failedResponse(event);
      case null:
        if ("error" in event) throw failedResponse(event);
        break;
      default:
    }
  }
  if (ended === null) throw new BrokenReply("it ended without saying that it was done");
  const usage = wireAt(ended, "usage");
  return {
    text: collected.text(),
    reasoning: reasoning.join(""),
    toolCalls,
    finish: finishOf(ended),
    promptTokens: countAt(usage, "input_tokens"),
    completionTokens: countAt(usage, "output_tokens"),
    loadMs: 0,
  };
}

function callOf(item: Wire | null, model: string): NativeCall | null {
  if (textAt(item, "type") !== "function_call") return null;
  const text = textAt(item, "arguments") ?? "{}";
  const args = parseJson(text);
  if (args === undefined) throw new ToolCallUnreadable(model, null);
  return nativeCall(model, textAt(item, "name"), args);
}

function finishOf(ended: Wire): StreamedReply["finish"] {
  const why = textAt(wireAt(ended, "incomplete_details"), "reason");
  if (why === "max_output_tokens" || why === "max_tokens") return "length";
  if (why !== null) throw invalidReply(`it ended with "${why.slice(0, 40)}"`);
  const [item] = wiresAt(ended, "output").slice(-1);
  return textAt(item, "status") === "incomplete" ? "length" : "stop";
}

const failedResponse = (wire: Wire | null): HostError =>
  new HostError(statusOf(wire), errorTextOf(wire) ?? "the host gave no reason");
