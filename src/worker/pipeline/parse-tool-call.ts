/** A call as the model wrote it. `trailingText` is what followed it, trimmed. */
export type ToolCall = {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly trailingText: string;
};

const MAX_CALL_CHARS = 64 * 1024;
const MAX_DEPTH = 32;

/**
 * The tool call that a reply opens with, or null. It may stand in a code fence or after a `<think>` block; it is
 * never taken from the middle of prose. Time is linear in the reply, depth and size of a call are bounded.
 *
 * A call is a JSON object with `type` exactly "tool_call", a `name` that is not blank and an object `args`.
 */
export function parseToolCall(reply: string): ToolCall | null {
  const opened = withoutOpening(reply);
  const end = endOfObject(opened.text);
  if (end === null) return null;
  const call = parseJson(opened.text.slice(0, end));
  if (!isRecord(call) || call["type"] !== "tool_call") return null;
  const { name, args } = call;
  if (typeof name !== "string" || name.trim() === "" || !isRecord(args)) return null;
  const after = opened.text.slice(end).trim();
  const trailingText =
    opened.fence !== "" && after.startsWith(opened.fence)
      ? after.slice(opened.fence.length).trim()
      : after;
  return { name, args, trailingText };
}

/** The reply from its first `{` on, if only thinking, white space and a fence stand before it. */
function withoutOpening(reply: string): { text: string; fence: string } {
  const text = withoutThinking(reply).trimStart();
  const fence = /^(?:```|~~~)[ \t]*(?:json|tool_call)?[ \t]*\r?\n?/i.exec(text)?.[0] ?? "";
  return { text: text.slice(fence.length).trimStart(), fence: fence.slice(0, 3) };
}

function withoutThinking(reply: string): string {
  const text = reply.trimStart();
  if (!text.startsWith("<think>")) return text;
  const end = text.indexOf("</think>");
  return end === -1 ? text : text.slice(end + "</think>".length);
}

/** Where the object ends that the text opens with: the index after its `}`, or null. */
function endOfObject(text: string): number | null {
  if (!text.startsWith("{")) return null;
  let depth = 0;
  let inString = false;
  const limit = Math.min(text.length, MAX_CALL_CHARS);
  for (let index = 0; index < limit; index += 1) {
    const char = text.charAt(index);
    if (inString) {
      if (char === "\\") index += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "{" || char === "[") depth += 1;
    else if (char === "}" || char === "]") depth -= 1;
    if (depth > MAX_DEPTH) return null;
    if (depth === 0) return index + 1;
  }
  return null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
