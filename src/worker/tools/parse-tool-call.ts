import { parseJson } from "../../shared/json-value.ts";
import type { NativeCall } from "../models/model.ts";
import { visibleText } from "../text/clean-text.ts";
import { endOfJson, MAX_JSON_CHARS, TOO_LONG } from "../text/model-json.ts";
import { afterFence, afterThinking } from "../text/open-reply.ts";
import { familiesOf, patternOf } from "./call-families.ts";
import type { CallFamilies } from "./call-families.ts";
import { barePythonCall } from "./call-syntaxes.ts";
import type { FoundCall } from "./call-syntaxes.ts";
import { malformed, parseCall, parseEnvelope, toolName, unpacked } from "./envelope.ts";
import type { Envelope, MalformedCall } from "./envelope.ts";
import { READER } from "./registry.ts";
import type { ToolRegistry } from "./registry.ts";

/** A call as the model wrote it. `trailingText` is what followed it, trimmed. */
export type ToolCall = Envelope & { readonly trailingText: string };

/** How calls of the tools of a registry are told from other text. */
export type CallGrammar = {
  readonly tools: ToolRegistry;
  readonly families: CallFamilies;
  /** What only a call in JSON holds. */
  readonly marks: readonly RegExp[];
};

export const grammarOf = (tools: ToolRegistry): CallGrammar => ({
  tools,
  families: familiesOf(tools),
  marks: marksOf(tools),
});

/** More than any model writes: a fence inside a fence. */
const MAX_FENCES = 4;

/**
 * The tool call that a reply opens with; malformed where it clearly opens as one and is none that may be carried
 * out; null for anything else. Only white space, `<think>` blocks, code fences and the marks of a model family may
 * stand before it: a call is never taken from the middle of prose, and what follows it is `trailingText`, be it a
 * second call.
 *
 * Our own form is `{"type":"tool_call","name":"…","args":{…}}`. What call-families.ts knows is taken for any name where
 * a mark announces it, and for the tools of the grammar where nothing does. Of a member that stands twice, the last counts. Pure,
 * linear in the reply.
 */
export function parseToolCall(
  reply: string,
  grammar: CallGrammar = GRAMMAR,
): ToolCall | MalformedCall | null {
  let at = afterThinking(reply);
  for (let fences = 0; fences <= MAX_FENCES; fences += 1) {
    const announced = announcedCall(reply, at, grammar);
    if (announced !== null) return closed(reply, announced, fences);
    const next = afterFence(reply, at);
    if (next === null) {
      const found = barePythonCall(reply, at, grammar.tools) ?? bareJson(reply, at, grammar);
      return found === null ? null : closed(reply, found, fences);
    }
    at = next;
  }
  return null;
}

/** What the mark of a family announces is a call, whether it can be read or not. */
function announcedCall(
  reply: string,
  at: number,
  { families, tools }: CallGrammar,
): FoundCall | null {
  const found = families.at(reply, at);
  if (found === null) return null;
  const { family, from } = found;
  return family.read(reply, from, tools) ?? unreadable(reply, from);
}

function unreadable(reply: string, from: number): FoundCall {
  const reason = /[[{]/.test(reply.charAt(from)) ? NOT_ONE_CALL : "it is in no form that is known";
  return { call: malformed(null, reason), further: [], end: reply.length };
}

/** JSON that nothing announces: our own form, or that of a known tool. */
function bareJson(
  reply: string,
  at: number,
  { tools, marks }: Pick<CallGrammar, "tools" | "marks">,
): FoundCall | null {
  if (!/[[{]/.test(reply.charAt(at))) return null;
  const text = reply.slice(at);
  const span = endOfJson(text);
  const json = text.slice(0, span.end);
  const value = span.kind === "open" ? undefined : parseJson(json);
  const read = value === undefined ? null : parseEnvelope(value, tools);
  const end = at + span.end;
  if (read !== null) return { ...read, end };
  const reason = span.kind === "open" ? span.reason : NOT_ONE_CALL;
  return isMarked(json, marks) ? { call: malformed(null, reason), further: [], end } : null;
}

const NOT_ONE_CALL = "its JSON is not that of one call";

function closed(
  reply: string,
  { call, further, end }: FoundCall,
  fences: number,
): ToolCall | MalformedCall {
  if (call.kind === "malformed") return call;
  return { ...call, trailingText: besideCall(afterClosers(reply.slice(end), fences), further) };
}

/** What stands beside a call, with the calls among it by their names. */
const besideCall = (text: string, further: readonly string[]): string =>
  [text, ...further.map((name) => `(a further call of ${name.slice(0, 100)})`)]
    .filter((part) => part !== "")
    .join("\n");

const CLOSER =
  /^(?:<\/[^<>\n]{1,40}>|<[|｜](?:\/\w{1,30}|(?:tool[▁_ ])?calls?|eot_id|eom_id|return|[^<>|｜\n]{0,30}(?:end|suffix)[^<>|｜\n]{0,20})[|｜]>|<end_(?:of_turn|function_call)>|\[\/\w{1,20}\])\s*/i;
const FENCE_END = /^(?:`{3,}|~{3,})\s*/;
const MAX_CLOSERS = 8;

/** Without the marks that close a call, and as many ends of code fences as there may be. */
function afterClosers(after: string, fences: number): string {
  let text = after.trim();
  let fencesLeft = fences + 1;
  for (let closers = 0; closers < MAX_CLOSERS; closers += 1) {
    const fence = fencesLeft > 0 ? FENCE_END.exec(text) : null;
    const closer = fence ?? CLOSER.exec(text);
    if (closer === null) break;
    if (fence !== null) fencesLeft -= 1;
    text = text.slice(closer[0].length);
  }
  return text.trim();
}

/**
 * The call of a reply that came by a host's own tool protocol: the first is taken, and what stands beside it is its
 * `trailingText`, be it text or further calls, as in the text protocol; models like to call for every file of a
 * question at once. Without any, the text is read as a reply by the text protocol. Arguments that the host left as JSON
 * text are parsed under the same bounds. Pure.
 */
export function fromNativeCalls(
  calls: readonly NativeCall[],
  text: string,
  grammar: CallGrammar = GRAMMAR,
): ToolCall | MalformedCall | null {
  const [call, ...further] = calls;
  if (call === undefined) return parseToolCall(text, grammar);
  const read = parseCall(nameOf(call, grammar), unpacked(call.args));
  if (read.kind === "malformed") return read;
  const isTooLong = JSON.stringify(read.args).length > MAX_JSON_CHARS;
  return isTooLong
    ? malformed(read.name, TOO_LONG)
    : { ...read, trailingText: beside(text, further) };
}

/** The name of a tool as it stands; else without what its host left in it. */
const nameOf = ({ name }: NativeCall, { tools }: Pick<CallGrammar, "tools">): string =>
  tools.find(name) === undefined ? toolName(name) : name;

const beside = (text: string, further: readonly NativeCall[]): string =>
  besideCall(
    text.trim(),
    further.map(({ name }) => name),
  );

/**
 * Whether a text holds a tool call, wherever it stands: at its start as the parser knows it, or after any text,
 * fenced, in single quotes, escaped, or as any family of models writes it. Evidence never shows a model one, so that there is
 * nothing to quote; an answer that talks about tool calls holds none. Pure, linear in the text.
 */
export function detectToolCall(text: string, grammar: CallGrammar = GRAMMAR): boolean {
  if (parseToolCall(text, grammar) !== null) return true;
  const plain = withoutEscapes(visibleText(text));
  return isMarked(plain, grammar.marks) || grammar.families.holdsMark(plain);
}

/** JSON may write any letter as an escape. */
const withoutEscapes = (text: string): string =>
  text.replace(/\\{1,4}u00([2-7][0-9a-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );

const QUOTE = String.raw`\\{0,4}["'“”‘’]`;
const COLON = String.raw`\s{0,20}:\s{0,20}`;
const quoted = (word: string): string => `${QUOTE}(?:${word})${QUOTE}`;

/**
 * What only a call in JSON holds, whichever quotes it uses: a member `type` that is "tool_call", or a tool's name beside
 * its arguments. Every repeat is bounded, so that no text makes a search longer than linear.
 */
function marksOf({ names }: Pick<ToolRegistry, "names">): readonly RegExp[] {
  const named = `${quoted("name|tool_name|tool")}${COLON}${quoted(patternOf(names))}`;
  return [
    String.raw`[{,]\s{0,40}${quoted("type")}${COLON}${quoted("tool_call")}`,
    String.raw`\{\s{0,40}type${COLON}${QUOTE}?tool_call`,
    String.raw`${named}\s{0,40},\s{0,40}${quoted("arguments|parameters|args")}${COLON}[{"'\\]`,
    String.raw`[}"']\s{0,40},\s{0,40}${named}\s{0,40}\}`,
  ].map((source) => new RegExp(source, "i"));
}

const isMarked = (text: string, marks: readonly RegExp[]): boolean =>
  marks.some((mark) => mark.test(text));

/** For what a question offers. */
const GRAMMAR = grammarOf(READER);
