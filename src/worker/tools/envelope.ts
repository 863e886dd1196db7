import { isRecord, parseJson } from "../../shared/json-value.ts";
import { firstCodePoints } from "../text/clean-text.ts";
import { THOUGHT_MARKS } from "../text/thought-marks.ts";
import { findUnstorable } from "./find-unstorable.ts";
import type { ToolRegistry } from "./registry.ts";

/** A reply without what may stand around a call. */
type OpenedReply = {
  /** From the first character on that is no white space, thinking, fence or tag. */
  readonly text: string;
  /** Marks that close what was opened, innermost first. */
  readonly closers: readonly string[];
};

/** More wrappers than any model writes: thinking aside, a fence inside a tag inside a fence. */
const MAX_WRAPPERS = 4;
const BLANK = /[\s\0-\x1F\x7F-\x9F\u200B-\u200F\u2060-\u2064\uFEFF]*/y;
const FENCE = /(`{3,}|~{3,})[ \t]*[\w-]{0,20}/y;
const TAG = /<(\|?)(tool_calls?|function_call)\|?>|\[TOOL_CALLS\]|<\|python_tag\|>/iy;

/** Takes thinking, one code fence and one tag off the front of a reply. Linear in the reply. */
export function openReply(reply: string): OpenedReply {
  let position = afterThinking(reply);
  const closers: string[] = [];
  for (let wrappers = 0; wrappers < MAX_WRAPPERS; wrappers += 1) {
    const fence = matchAt(FENCE, reply, position);
    const tag = fence === null ? matchAt(TAG, reply, position) : null;
    const opener = fence ?? tag;
    if (opener === null) break;
    const closer = fence === null ? closerOf(opener) : opener[1];
    if (closer !== undefined) closers.unshift(closer);
    position = afterBlanks(reply, position + opener[0].length);
  }
  return { text: reply.slice(position), closers };
}

/** `</tool_call>`, or `<|/tool_call|>`; the other tags are closed by nothing. */
function closerOf([, pipe, name]: RegExpExecArray): string | undefined {
  if (name === undefined) return undefined;
  return pipe === "|" ? `<|/${name}|>` : `</${name}>`;
}

/** Behind the code fence that opens at a position, and the blanks behind it; null where none does. */
export function afterFence(reply: string, position: number): number | null {
  const fence = matchAt(FENCE, reply, position);
  return fence === null ? null : afterBlanks(reply, position + fence[0].length);
}

/** Behind all thinking that the reply opens with; its end where a block is never closed. */
export function afterThinking(reply: string): number {
  let position = afterBlanks(reply, afterUnopenedThinking(reply));
  for (;;) {
    const marks = THOUGHT_MARKS.find(({ open }) => reply.startsWith(open, position));
    if (marks === undefined) return position;
    const end = reply.indexOf(marks.close, position);
    if (end === -1) return reply.length;
    position = afterBlanks(reply, end + marks.close.length);
  }
}

/** Some templates open the block in the prompt, so that a reply begins inside of it. */
function afterUnopenedThinking(reply: string): number {
  if (/[[{]/.test(reply.charAt(afterBlanks(reply, 0)))) return 0;
  const ends = THOUGHT_MARKS.map(({ open, close }) => {
    const [from, to] = [reply.indexOf(open), reply.indexOf(close)];
    return to !== -1 && (from === -1 || from > to) ? to + close.length : 0;
  });
  return Math.max(...ends);
}

const afterBlanks = (text: string, position: number): number =>
  position + (matchAt(BLANK, text, position)?.[0].length ?? 0);

function matchAt(pattern: RegExp, text: string, position: number): RegExpExecArray | null {
  pattern.lastIndex = position;
  return pattern.exec(text);
}

/** `end` is the index after the value; of one left open, how far it was looked at. */
type JsonSpan =
  | { readonly kind: "ended"; readonly end: number }
  | { readonly kind: "open"; readonly end: number; readonly reason: string };

export const MAX_CALL_CHARS = 64 * 1024;
const MAX_DEPTH = 32;

/**
 * Where the JSON object or list ends that a text opens with. It looks at 65,536 characters and 32 levels at most,
 * so that the parser behind it never meets more.
 */
export function endOfJson(text: string): JsonSpan {
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
    if (depth > MAX_DEPTH) return { kind: "open", end: limit, reason: TOO_DEEP };
    if (depth === 0) return { kind: "ended", end: index + 1 };
  }
  return { kind: "open", end: limit, reason: text.length > MAX_CALL_CHARS ? TOO_LONG : CUT_SHORT };
}

const TOO_DEEP = `it nests deeper than ${String(MAX_DEPTH)} levels`;
export const TOO_LONG = `it is longer than ${String(MAX_CALL_CHARS)} characters`;
export const CUT_SHORT = "its JSON does not end";

/** Name and arguments of a call. Arguments are plain JSON data that Postgres can store as it is. */
export type Envelope = {
  readonly kind: "call";
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
};

/** Meant as a call, and none that may be carried out. `reason` is a clause about it, without words of the model. */
export type MalformedCall = {
  readonly kind: "malformed";
  /** The tool that it names, at most 200 characters; null where none can be told. */
  readonly name: string | null;
  readonly reason: string;
};

/** What makes JSON a call: a tag of a model family, for any name; else that it names one of these tools, so that other JSON stays an answer. */
type Announcement = "tag" | Pick<ToolRegistry, "find">;

const MAX_NAME_CHARS = 200;

export const malformed = (name: unknown, reason: string): MalformedCall => ({
  kind: "malformed",
  name:
    typeof name === "string" && findUnstorable(name) === null
      ? firstCodePoints(name, MAX_NAME_CHARS)
      : null,
  reason,
});

/** A call, with the names of those that stand beside it in a list. */
type ParsedEnvelope = {
  readonly call: Envelope | MalformedCall;
  readonly further: readonly string[];
};

/**
 * The tool that a name stands for, without what some families and hosts leave of their own protocol: the module before it
 * ("functions."), a mark, a count or a method behind it.
 */
export const toolName = (name: string): string =>
  name
    .replace(/(?<=.)<[|｜].*$/s, "")
    .replace(/^(?:functions|default_api|tools)\.(?=.)/, "")
    .replace(/(?<=.)(?:\.call|:\d{1,6})$/, "");

/**
 * The call that a parsed JSON value is, or null where it is something else: our own form, that of a model family, with
 * `name` or `tool_name` and `arguments` or `parameters`, or `tool` and `args`. Of a list in a form of a family the first is
 * taken. Pure.
 */
export function parseEnvelope(value: unknown, announcedBy: Announcement): ParsedEnvelope | null {
  if (Array.isArray(value)) return parseList(value, announcedBy);
  const call = parseObject(value, announcedBy);
  return call === null ? null : { call, further: [] };
}

function parseObject(value: unknown, announcedBy: Announcement): Envelope | MalformedCall | null {
  if (!isRecord(value)) return null;
  if (isOurs(value)) return parseCall(value["name"], value["args"]);
  const native = isRecord(value["function"]) ? value["function"] : value;
  const written = native["name"] ?? native["tool_name"] ?? native["tool"];
  const keys = written === native["tool"] ? ["args"] : ["arguments", "parameters"];
  const given = keys.filter((key) => Object.hasOwn(native, key));
  if (typeof written !== "string" || given.length === 0) return null;
  const name = toolName(written);
  if (announcedBy !== "tag" && announcedBy.find(name) === undefined) return null;
  return given.length > 1
    ? malformed(name, `it has ${given.join(" and ")}`)
    : parseCall(name, unpacked(native[given[0] ?? ""]));
}

const isOurs = (value: unknown): boolean => isRecord(value) && value["type"] === "tool_call";

/** Arguments that are JSON text, as Hermes and OpenAI write them, under the bounds of any other. */
export function unpacked(args: unknown): unknown {
  if (typeof args !== "string") return args;
  const json = args.trim();
  const span = endOfJson(json);
  return span.kind === "open" || span.end !== json.length ? args : parseJson(json);
}

/** A call from its parts, held against the rules for both. */
export function parseCall(name: unknown, args: unknown): Envelope | MalformedCall {
  if (typeof name !== "string" || name.trim() === "") {
    return malformed(null, "its name is not a text, or a blank one");
  }
  if (!isRecord(args)) return malformed(name, "its arguments are not an object");
  const fault = findUnstorable({ name, args });
  return fault === null ? { kind: "call", name, args } : malformed(name, fault);
}

/** A list is how many families write calls, and no form of ours. */
function parseList(list: readonly unknown[], announcedBy: Announcement): ParsedEnvelope | null {
  const read = list.map((item) => parseObject(item, announcedBy));
  const [first] = read;
  if (read.every((call) => call === null)) return null;
  const isOnlyCalls = first !== null && first !== undefined && !read.includes(null);
  if (!isOnlyCalls || (announcedBy !== "tag" && list.some(isOurs))) {
    return {
      call: malformed(null, "it stands in a list; exactly one JSON object is taken"),
      further: [],
    };
  }
  return { call: first, further: read.slice(1).map((call) => call?.name ?? "unknown") };
}
