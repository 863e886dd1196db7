import type { NativeCall } from "../../model/model.ts";
import { MAX_CALL_CHARS, TOO_LONG } from "./end-of-json.ts";
import { besideCall, parseToolCall } from "./parse-tool-call.ts";
import type { ToolCall } from "./parse-tool-call.ts";
import { malformed, readCall, unpacked } from "./read-envelope.ts";
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
  const read = readCall(call.name, unpacked(call.args));
  if (read.kind === "malformed") return read;
  const isTooLong = JSON.stringify(read.args).length > MAX_CALL_CHARS;
  return isTooLong
    ? malformed(read.name, TOO_LONG)
    : { ...read, trailingText: beside(text, further) };
}

const beside = (text: string, further: readonly NativeCall[]): string =>
  besideCall(
    text.trim(),
    further.map(({ name }) => name),
  );
