import { parseJson } from "../../../shared/json-value.ts";
import { endOfJson } from "./end-of-json.ts";
import { holdsCallMark, isBareInvocation } from "./find-call-marks.ts";
import { openReply } from "./open-reply.ts";
import type { OpenedReply } from "./open-reply.ts";
import { malformed, readEnvelope } from "./read-envelope.ts";
import type { Envelope, MalformedCall } from "./read-envelope.ts";

/** A call as the model wrote it. `trailingText` is what followed it, trimmed. */
export type ToolCall = Envelope & { readonly trailingText: string };

/**
 * The tool call that a reply opens with; malformed where it clearly opens as one and is none that may be carried
 * out; null for anything else. Only white space, `<think>` blocks, a code fence and the tag of a model family may
 * stand before it: a call is never taken from the middle of prose, and what follows it is `trailingText`, be it a
 * second call.
 *
 * Our own form is `{"type":"tool_call","name":"…","args":{…}}`. The native spelling written as text,
 * `{"name":"read_text_file","arguments"|"parameters":{…}}`, is taken for that exact name alone, and for any name
 * inside a `<tool_call>` tag. Of a member that stands twice, the last counts. Pure, linear in the reply.
 */
export function parseToolCall(reply: string): ToolCall | MalformedCall | null {
  const opened = openReply(reply);
  if (!/^[[{]/.test(opened.text)) return withoutJson(opened);
  const span = endOfJson(opened.text);
  const json = opened.text.slice(0, span.end);
  const value = span.kind === "open" ? undefined : parseJson(json);
  const read = value === undefined ? null : readEnvelope(value, opened.announcedBy);
  if (read === null) return isMeantAsCall(opened, json) ? malformed(null, faultOf(span)) : null;
  if (read.kind === "malformed") return read;
  return { ...read, trailingText: afterClosers(opened.text.slice(span.end), opened.closers) };
}

const isMeantAsCall = (opened: OpenedReply, json: string): boolean =>
  opened.announcedBy === "tag" || holdsCallMark(json) || isBareInvocation(opened.text);

const faultOf = (span: ReturnType<typeof endOfJson>): string =>
  span.kind === "open" ? span.reason : "its JSON is not that of one call";

/** Other syntaxes of model families, such as `<function=…>`: meant as a call, and none of ours. */
function withoutJson({ text, announcedBy }: OpenedReply): MalformedCall | null {
  const isCall =
    announcedBy === "tag" ? /^(?:<|["']|read_text_file)/.test(text) : isBareInvocation(text);
  return isCall ? malformed(null, "it is written without a JSON object") : null;
}

function afterClosers(after: string, closers: readonly string[]): string {
  return closers.reduce(
    (text, closer) => (text.startsWith(closer) ? text.slice(closer.length).trim() : text),
    after.trim(),
  );
}
