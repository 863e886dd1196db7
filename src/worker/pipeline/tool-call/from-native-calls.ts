import { parseJson } from "../../../shared/json-value.ts";
import type { NativeCall } from "../../model/model.ts";
import { endOfJson, MAX_CALL_CHARS, TOO_LONG } from "./end-of-json.ts";
import { parseToolCall } from "./parse-tool-call.ts";
import type { ToolCall } from "./parse-tool-call.ts";
import { malformed, readCall } from "./read-envelope.ts";
import type { MalformedCall } from "./read-envelope.ts";

/**
 * The call of a reply that came by a host's own tool protocol: the first is taken, and what stands beside it is its
 * `trailingText`, be it text or further calls, as in the text protocol; models like to call for every file of a
 * question at once. Without any, the text is read as a reply by the text protocol. Arguments that the host left as JSON
 * text are parsed under the same bounds. Pure.
 */
export function fromNativeCalls(
  calls: readonly NativeCall[],
  text: string,
): ToolCall | MalformedCall | null {
  const [call, ...further] = calls;
  if (call === undefined) return parseToolCall(text);
  const args = typeof call.args === "string" ? parseArguments(call.args.trim()) : call.args;
  const read = readCall(call.name, args);
  if (read.kind === "malformed") return read;
  const isTooLong = JSON.stringify(read.args).length > MAX_CALL_CHARS;
  return isTooLong
    ? malformed(read.name, TOO_LONG)
    : { ...read, trailingText: beside(text, further) };
}

const beside = (text: string, further: readonly NativeCall[]): string =>
  [text.trim(), ...further.map(({ name }) => `(a further call of ${name.slice(0, 100)})`)]
    .filter((part) => part !== "")
    .join("\n");

function parseArguments(json: string): unknown {
  const span = endOfJson(json);
  if (span.kind === "open" || span.end !== json.length) return undefined;
  return parseJson(json);
}
