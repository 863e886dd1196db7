import { isRecord, parseJson } from "../../shared/schema/json-value.ts";
import type { NativeCall } from "../models/model.ts";
import { firstCodePoints, visibleText } from "../text/clean-text.ts";
import { endOfJson, findUnstorable, MAX_JSON_CHARS, TOO_LONG } from "../text/model-json.ts";
import { behindValue, openReply } from "../text/open-reply.ts";
import type { OpenedReply } from "../text/open-reply.ts";
import { callMarksOf } from "./call-marks.ts";
import type { CallMarks } from "./call-marks.ts";
import { READER } from "./registry.ts";
import type { ToolRegistry } from "./registry.ts";

/** Name and arguments of a call. Arguments are plain JSON data that Postgres can store as it is. */
type Call = {
  readonly kind: "call";
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
};

/** A call as the model wrote it. `trailingText` is the text behind it, trimmed. */
export type ToolCall = Call & { readonly trailingText: string };

/** A call that can't be executed. `reason` is a clause about it, without words of the model. */
export type MalformedCall = {
  readonly kind: "malformed";
  /** The tool that it names, at most 200 characters; null if the name can't be read. */
  readonly name: string | null;
  readonly reason: string;
};

/** The tools that a reply may call, and the marks of their calls. */
export type CallGrammar = { readonly tools: ToolRegistry; readonly marks: CallMarks };

export const grammarOf = (tools: ToolRegistry): CallGrammar => ({
  tools,
  marks: callMarksOf(tools),
});

/** The grammar of questions, which offer one tool. */
const GRAMMAR = grammarOf(READER);

const NOT_ONE_CALL = "its JSON is not that of one call";
const IN_A_LIST = "it stands in a list; exactly one JSON object is taken";
const UNKNOWN_FORM = "it is in no form that is known";

/**
 * The tool call at the start of a reply; malformed if it looks like a call and can't be executed (also if its dialect is not
 * parsed); null for any other text. Only white space, thinking, code fences and a `<tool_call>` tag may precede it: a call is
 * never taken from the middle of prose. All text behind it is `trailingText`, even a second call.
 *
 * A call is JSON: `{"type":"tool_call","name":"…","args":{…}}`, our own form, for any name; `{"name":"…","arguments":{…}}` or
 * `{"tool":"…","args":{…}}` for any name behind the tag, else only for the tools of the grammar. If a member comes twice, the
 * last one counts. Pure, linear in the reply.
 */
export function parseToolCall(
  reply: string,
  grammar: CallGrammar = GRAMMAR,
): ToolCall | MalformedCall | null {
  const opened = openReply(reply);
  const call = /^[[{]/.test(opened.text) ? readJson(opened, grammar) : null;
  if (call !== null) return call;
  const isDialect = opened.places.some((at) => grammar.marks.dialectAt(reply, at));
  return isDialect ? malformed(null, UNKNOWN_FORM) : null;
}

function readJson(
  opened: OpenedReply,
  { tools, marks }: CallGrammar,
): ToolCall | MalformedCall | null {
  const { text, isTagged } = opened;
  const span = endOfJson(text);
  const json = text.slice(0, span.end);
  const value = span.kind === "open" ? undefined : parseJson(json);
  const call = value === undefined ? null : callOf(value, isTagged ? "any" : tools);
  if (call?.kind === "call") return { ...call, trailingText: behindValue(opened, span.end) };
  if (call !== null) return call;
  const isMeant = marks.inJson(json) || (isTagged && /^(?:\[\s*)?\{/.test(json));
  return isMeant ? malformed(null, span.kind === "open" ? span.reason : NOT_ONE_CALL) : null;
}

/** Reads a JSON value as a call; null if it is something else. */
function callOf(
  value: unknown,
  tools: Pick<ToolRegistry, "find"> | "any",
): Call | MalformedCall | null {
  if (Array.isArray(value)) {
    return value.some((item) => callOf(item, tools) !== null) ? malformed(null, IN_A_LIST) : null;
  }
  if (!isRecord(value)) return null;
  if (value["type"] === "tool_call") return checkCall(value["name"], value["args"]);
  const [written, args] = Object.hasOwn(value, "name")
    ? [value["name"], value["arguments"]]
    : [value["tool"], value["args"]];
  if (typeof written !== "string" || args === undefined) return null;
  const name = toolName(written);
  const isKnown = tools === "any" || tools.find(name) !== undefined;
  return isKnown ? checkCall(name, unpackArgs(args)) : null;
}

/** A call from its parts, or the rule that one of them breaks. */
function checkCall(name: unknown, args: unknown): Call | MalformedCall {
  if (typeof name !== "string" || name.trim() === "") {
    return malformed(null, "its name is not a text, or a blank one");
  }
  if (!isRecord(args)) return malformed(name, "its arguments are not an object");
  const fault = findUnstorable({ name, args });
  return fault === null ? { kind: "call", name, args } : malformed(name, fault);
}

const MAX_NAME_CHARS = 200;

export const malformed = (name: string | null, reason: string): MalformedCall => ({
  kind: "malformed",
  name:
    name === null || findUnstorable(name) !== null ? null : firstCodePoints(name, MAX_NAME_CHARS),
  reason,
});

/**
 * The name of a tool without the remains of a host's own protocol: a module before it ("functions."), a mark or a count
 * behind it.
 */
export const toolName = (name: string): string =>
  name
    .replace(/(?<=.)<[|｜].*$/s, "")
    .replace(/^(?:functions|default_api|tools)\.(?=.)/, "")
    .replace(/(?<=.):\d{1,6}$/, "");

/** Parses arguments that a model or a host wrote as JSON text, within the same bounds as other JSON. */
function unpackArgs(args: unknown): unknown {
  if (typeof args !== "string") return args;
  const json = args.trim();
  const span = endOfJson(json);
  return span.kind === "open" || span.end !== json.length ? args : parseJson(json);
}

/**
 * The call of a reply in a host's own tool protocol: the first one, with all text and further calls as its `trailingText`;
 * models often call for every file of a question at once. Without a native call, the text is read by the text protocol. Pure.
 */
export function fromNativeCalls(
  calls: readonly NativeCall[],
  text: string,
  grammar: CallGrammar = GRAMMAR,
): ToolCall | MalformedCall | null {
  const [first, ...further] = calls;
  if (first === undefined) return parseToolCall(text, grammar);
  const name = grammar.tools.find(first.name) === undefined ? toolName(first.name) : first.name;
  const call = checkCall(name, unpackArgs(first.args));
  if (call.kind === "malformed") return call;
  if (JSON.stringify(call.args).length > MAX_JSON_CHARS) return malformed(name, TOO_LONG);
  const beside = further.map((one) => `(a further call of ${one.name.slice(0, 100)})`);
  return { ...call, trailingText: [text.trim(), ...beside].join("\n").trim() };
}

/**
 * Whether a text contains a tool call: at its start as the parser reads it, or after any text, fenced, in single quotes,
 * escaped, or in a dialect. Evidence never shows a call to a model, so the model has none to quote; an answer that only talks
 * about tool calls contains none. Pure, linear in the text.
 */
export const detectToolCall = (text: string, grammar: CallGrammar = GRAMMAR): boolean =>
  parseToolCall(text, grammar) !== null ||
  grammar.marks.anywhere(withoutEscapes(visibleText(text)));

/** JSON may write any letter as an escape. */
const withoutEscapes = (text: string): string =>
  text.replace(/\\{1,4}u00([2-7][0-9a-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
