import { isRecord, parseJson } from "../../shared/json-value.ts";
import { CUT_SHORT, endOfJson, MAX_JSON_CHARS, TOO_LONG } from "../text/model-json.ts";
import { malformed, parseCall, parseEnvelope, toolName } from "./envelope.ts";
import type { Envelope, MalformedCall } from "./envelope.ts";
import { parsePythonCalls } from "./python-call.ts";
import type { ToolRegistry } from "./registry.ts";

/** What stands at a place of a text: the first call, what stands beside it in the same list, and where all of it ends. */
export type FoundCall = {
  readonly call: Envelope | MalformedCall;
  readonly further: readonly string[];
  readonly end: number;
};

/**
 * Reads what stands at a place as a call of any tool; null where it is not written in this syntax. Linear.
 *
 * @param tools those whose arguments may stand without their names, and that need nothing to announce them
 */
export type Syntax = (
  text: string,
  at: number,
  tools: Pick<ToolRegistry, "find">,
) => FoundCall | null;

export const NAME = String.raw`[A-Za-z_][\w.-]{0,127}`;
const NO_OBJECT = "its arguments are not an object";

/** The first of several syntaxes that a text is written in. */
export const oneOf =
  (...syntaxes: readonly Syntax[]): Syntax =>
  (text, at, tools) =>
    syntaxes.reduce<FoundCall | null>((found, read) => found ?? read(text, at, tools), null);

/** `{"name": …, "arguments": {…}}`, or a list of such, in any of the spellings that readEnvelope knows. */
export const jsonCall: Syntax = (text, at) => {
  if (!/[[{]/.test(text.charAt(at))) return null;
  const json = jsonAt(text, at);
  if (json.kind === "open") return broken(null, json.reason, text);
  const read = json.value === undefined ? null : parseEnvelope(json.value, "tag");
  return read === null ? null : { ...read, end: json.end };
};

/** A list whose objects have the name of a tool for their only key: `[{"name": {…}}]`. */
export const keyedCall: Syntax = (text, at) => {
  const json = jsonAt(text, at);
  if (json.kind === "open") return broken(null, json.reason, text);
  const [first, ...further] = (Array.isArray(json.value) ? json.value : [json.value])
    .filter(isRecord)
    .map((item) => ({ name: Object.keys(item)[0] ?? "", args: Object.values(item)[0] }));
  if (first === undefined) return null;
  const call = parseCall(first.name, first.args);
  return { call, further: further.map(({ name }) => name), end: json.end };
};

/**
 * A name, and behind it the arguments as a JSON object, which may stand in a code fence.
 *
 * @param head source of a pattern for all that stands before the object; its first group is the name
 */
export function namedJson(head: string): Syntax {
  const pattern = new RegExp(`${head}\\s*(?:(?:\`{3,9}|~{3,9})[\\w-]{0,20}\\s*)?`, "iy");
  return (text, at) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) return null;
    const name = toolName(found[1] ?? "");
    const from = at + found[0].length;
    if (text.charAt(from) !== "{") {
      return broken(name, from >= text.length ? CUT_SHORT : NO_OBJECT, text);
    }
    const json = jsonAt(text, from);
    if (json.kind === "open") return broken(name, json.reason, text);
    if (json.value === undefined) return broken(name, "its arguments are not JSON", text);
    return { call: parseCall(name, json.value), further: [], end: json.end };
  };
}

/** `<function=name><parameter=key>value</parameter>…</function>`: Qwen3-Coder, Seed-OSS, Nemotron 3. */
export const functionTag: Syntax = taggedCall({
  open: new RegExp(`<function(?:=|\\s{1,4}name=)["']?(${NAME})["']?\\s{0,4}>\\s*`, "iy"),
  parameter: /<parameter(?:=|\s{1,4}name=)["']?([^"'<>\n]{1,128})["']?\s{0,4}>/iy,
  valueEnd: /<\/parameter>|(?=<parameter[=\s]|<\/function>|<\/tool_call>)/gi,
  close: /\s*<\/function>/iy,
});

/** `<function=name>{…}</function>`: Llama 3.1. */
export const functionJson: Syntax = namedJson(
  `<function(?:=|\\s{1,4}name=)["']?(${NAME})["']?\\s{0,4}>(?=\\s{0,400}[{\`])`,
);

/** `<invoke name="name"><parameter name="key">value</parameter>…</invoke>`: MiniMax, DeepSeek V3.2, Step, and Claude's. */
export const invokeTag: Syntax = taggedCall({
  open: new RegExp(
    `<(?:[\\w.-]{1,20}:|[|｜]DSML[|｜])?invoke\\s{1,4}name=["'](${NAME})["']\\s{0,4}>\\s*`,
    "iy",
  ),
  parameter:
    /<(?:[\w.-]{1,20}:|[|｜]DSML[|｜])?parameter\s{1,4}name=["']([^"'<>\n]{1,128})["'](?:\s{1,4}string=["'](true|false)["'])?\s{0,4}>/iy,
  valueEnd:
    /<\/(?:[\w.-]{1,20}:|[|｜]DSML[|｜])?parameter>|(?=<\/(?:[\w.-]{1,20}:|[|｜]DSML[|｜])?invoke>)/gi,
  close: /\s*<\/(?:[\w.-]{1,20}:|[|｜]DSML[|｜])?invoke>/iy,
});

/** `name<arg_key>key</arg_key><arg_value>value</arg_value>…`: GLM 4.5 and later. */
export const argumentPairs: Syntax = taggedCall({
  open: new RegExp(`(${NAME})\\s{0,40}(?=<arg_key>)`, "iy"),
  parameter: /<arg_key>\s{0,8}([^<>\n]{1,128}?)\s{0,8}<\/arg_key>\s{0,40}<arg_value>/iy,
  valueEnd: /<\/arg_value>/gi,
  close: /(?=\s*<\/tool_call>)/iy,
});

type Tags = {
  /** The first group is the name of the tool. */
  readonly open: RegExp;
  /** The first group is the key; the second says "false" of a value that is JSON. */
  readonly parameter: RegExp;
  readonly valueEnd: RegExp;
  readonly close: RegExp;
};

/** Arguments between tags, each of them a text as it stands but for the line breaks around it. */
function taggedCall({ open, parameter, valueEnd, close }: Tags): Syntax {
  return (text, at) => {
    const opened = matchAt(open, text, at);
    if (opened === null) return null;
    const name = toolName(opened[1] ?? "");
    const shown = text.slice(0, at + MAX_JSON_CHARS);
    const args: [string, unknown][] = [];
    let position = at + opened[0].length;
    for (;;) {
      const begun = matchAt(parameter, shown, position);
      if (begun === null) break;
      const from = position + begun[0].length;
      valueEnd.lastIndex = from;
      const ended = valueEnd.exec(shown);
      if (ended === null) return broken(name, cutOrLong(text, at), text);
      const value = withoutBreaks(shown.slice(from, ended.index));
      args.push([begun[1] ?? "", begun[2] === "false" ? parseJson(value) : value]);
      position = afterBlanks(shown, ended.index + ended[0].length);
    }
    const closed = matchAt(close, shown, position);
    if (closed === null) return broken(name, cutOrLong(text, at), text);
    return {
      call: parseCall(name, Object.fromEntries(args)),
      further: [],
      end: position + closed[0].length,
    };
  };
}

/** `call:name{key:<escape>value<escape>,count:3}`: FunctionGemma. */
export const escapedPairs: Syntax = (text, at) => {
  const opened = matchAt(new RegExp(`call:(${NAME})\\{`, "y"), text, at);
  if (opened === null) return null;
  const shown = text.slice(0, at + MAX_JSON_CHARS);
  const pair = /\s*(?:,\s*)?([\w-]{1,128}):(?:<escape>|([^,{}<>\n]{1,400}))/y;
  const args: [string, unknown][] = [];
  let position = at + opened[0].length;
  for (let begun = matchAt(pair, shown, position); begun !== null;) {
    position += begun[0].length;
    const [, key = "", bare] = begun;
    if (bare === undefined) {
      const end = shown.indexOf("<escape>", position);
      if (end === -1) return broken(opened[1], cutOrLong(text, at), text);
      args.push([key, shown.slice(position, end)]);
      position = end + "<escape>".length;
    } else args.push([key, parseJson(bare.trim()) ?? bare.trim()]);
    begun = matchAt(pair, shown, position);
  }
  position = afterBlanks(shown, position);
  if (shown.charAt(position) !== "}") return broken(opened[1], cutOrLong(text, at), text);
  return { call: parseCall(opened[1], Object.fromEntries(args)), further: [], end: position + 1 };
};

/** `name(key="value")`, or a list of such; what reads as Python and is none is no call. */
export const pythonCall: Syntax = (text, at, tools) => {
  const read = parsePythonCalls(text, at, (name) => tools.find(name)?.argNames ?? []);
  if (read.kind === "none") return null;
  if (read.kind === "open") return broken(null, cutOrLong(text, at), text);
  const [first, ...further] = read.calls;
  if (first === undefined) return null;
  return {
    call: parseCall(first.name, first.args),
    further: further.map(({ name }) => name),
    end: read.end,
  };
};

/** The same where nothing announces it: a line of its own that calls a known tool, or a list of calls and nothing else. */
export const barePythonCall: Syntax = (text, at, tools) => {
  const found = pythonCall(text, at, tools);
  if (found === null) return null;
  const isKnown = (name: string): boolean => tools.find(name) !== undefined;
  if (found.call.kind === "malformed") {
    const opened = matchAt(new RegExp(`\\[?\\s{0,40}(${NAME})\\s{0,40}\\(`, "y"), text, at);
    return isKnown(toolName(opened?.[1] ?? "")) ? found : null;
  }
  const behind = text.slice(found.end);
  const isList = text.charAt(at) === "[" && Object.keys(found.call.args).length > 0;
  const isAlone = /^(?:\s|`{3}|<[|/][^<>]{1,40}>)*$/.test(behind.slice(0, 400));
  const isLine = /^[ \t]*(?:[\n`<]|$)/.test(behind);
  return (isKnown(found.call.name) && isLine) || (isList && isAlone) ? found : null;
};

type JsonAt =
  | { readonly kind: "ended"; readonly value: unknown; readonly end: number }
  | { readonly kind: "open"; readonly reason: string };

function jsonAt(text: string, at: number): JsonAt {
  const span = endOfJson(text.slice(at));
  if (span.kind === "open") return span;
  const end = at + span.end;
  return { kind: "ended", value: parseJson(text.slice(at, end)), end };
}

/** A call that is meant as one and can't be read: nothing behind it is looked at. */
const broken = (name: unknown, reason: string, text: string): FoundCall => ({
  call: malformed(name, reason),
  further: [],
  end: text.length,
});

const cutOrLong = (text: string, at: number): string =>
  text.length - at > MAX_JSON_CHARS ? TOO_LONG : "it does not end";

const withoutBreaks = (value: string): string => value.replace(/^\r?\n/, "").replace(/\r?\n$/, "");

const afterBlanks = (text: string, position: number): number =>
  position + (matchAt(/\s*/y, text, position)?.[0].length ?? 0);

function matchAt(pattern: RegExp, text: string, position: number): RegExpExecArray | null {
  pattern.lastIndex = position;
  return pattern.exec(text);
}
