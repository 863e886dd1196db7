import type { ToolRegistry } from "./registry.ts";

/**
 * Marks that open a call in the dialects of model families. Only JSON behind the first is parsed; for any other dialect the
 * model has to repeat its call as JSON. `<` also matches `<|` and a prefix (`<seed:`), `>` matches `|>`, `_` matches `▁`, a
 * space or nothing.
 */
const DIALECTS = [
  ...["<tool_call>", "<tool_calls>", "<longcat_tool_call>", "<tool_code>"],
  ...["<function_call>", "<function_calls>", "<start_function_call>"],
  ...["<tool_call_start>", "<tool_call_begin>", "<tool_calls_begin>", "<tool_calls_section_begin>"],
  ...["<python_tag>", "<python_start>", "<tools_prefix>", "<start_action>"],
  ...["<action_start><plugin>", "<action_start><interpreter>"],
  ...["<function=", "<function name=", "<invoke name="],
  ...["[tool_calls]", "functools[", "to=functions."],
  ...["```tool_code", "```tool_call", "```function_call"],
];

const PATTERNS: Readonly<Record<string, string>> = {
  "<": "<[|｜]?(?:\\w{1,20}[:|｜])?",
  ">": "[|｜]?>",
  _: "[▁_ ]?",
  "[": "\\[",
  "]": "\\]",
};
const MARK = DIALECTS.map((mark) =>
  mark.replace(/[<>_[\]]/g, (char) => PATTERNS[char] ?? char),
).join("|");

const W = String.raw`\s{0,40}`;
const NAME = String.raw`[A-Za-z_][\w.:-]{0,127}`;
const FENCE = "(?:(?:`{3,9}|~{3,9})[\\w-]{0,20}\\s{0,40})?";

/** The text of a call behind such a mark, which differs from that of a sentence about the mark. Every repeat is bounded. */
const bodyOf = (known: string): string =>
  [
    String.raw`(?:\[${W})?\{`,
    String.raw`\[?${NAME}\(`,
    String.raw`${NAME}(?:<[|｜]|\[(?:ARGS|CALL_ID)\])`,
    String.raw`${NAME}${W}(?:(?:json|code)?\s?\{|<arg_key>|<\|(?:channel|constrain|message)\|>)`,
    String.raw`["']?${NAME}["']?${W}>${W}(?:\{|<[\w.:|｜-]{0,24}parameter[=\s])`,
    String.raw`["']?(?:${known})["']?${W}>`,
    String.raw`<\w`,
  ].join("|");

/** The header that gpt-oss writes before the name of a tool. */
const HEADER = String.raw`(?:<\|channel\|>commentary<\|message\|>[^<]{0,2000}<\|end\|>)?(?:<\|(?:start|channel)\|>|assistant|commentary|analysis|\s){0,8}`;

/** Distinguishes calls of a registry's tools from other text. */
export type CallMarks = {
  /** Whether a call in a dialect begins at this index of a text. */
  dialectAt(text: string, at: number): boolean;
  /** Whether JSON is a call, valid or not. */
  inJson(json: string): boolean;
  /** Whether a text contains a call in any of these forms. Linear. */
  anywhere(text: string): boolean;
};

export function callMarksOf({ names }: Pick<ToolRegistry, "names">): CallMarks {
  // Names of server tools hold dots. "(?!)" matches nothing: without any name the pattern would match every text.
  const known = ["(?!)", ...names.map((name) => name.replaceAll(".", "\\."))].join("|");
  const dialect = [
    String.raw`(?:(?:${MARK})${W}){1,3}${FENCE}(?:${bodyOf(known)})`,
    String.raw`Action:${W}(?:${FENCE}\[${W}\{${W}"tool_|(?:${known})\s{1,20}Action Input:)`,
    String.raw`(?:>>>)?(?:${known})${W}\{`,
  ].join("|");
  const line = codeLineOf(known);
  const list = String.raw`\[${NAME}\(${W}\w{1,128}\s?=[^\n]{0,2000}\)\]\s{0,40}(?![^])`;
  const begins = new RegExp(`${HEADER}(?:${dialect}|${line}|${list})`, "imy");
  const json = jsonMarksOf(known);
  const all = [...json, new RegExp(dialect, "i"), new RegExp(`^[ \\t>]{0,8}${line}`, "im")];
  return {
    dialectAt(text, at) {
      begins.lastIndex = at;
      return begins.test(text);
    },
    inJson: (text) => json.some((mark) => mark.test(text)),
    anywhere: (text) => all.some((mark) => mark.test(text)),
  };
}

/** A line of code that only calls a known tool. In the middle of a line such code is a quotation. */
function codeLineOf(known: string): string {
  const args = String.raw`(?:[^()\n"']|"[^"\n]{0,1000}"|'[^'\n]{0,1000}'){0,200}`;
  const whole = String.raw`${args}\){1,2}(?:[ \t]{0,4},[^\n]{0,2000})?\]?`;
  const cutShort = String.raw`\s{0,40}(?:\w{1,128}\s?=\s?)?["'][^"'\n]{0,1000}`;
  return String.raw`\[?(?:print\()?(?:${known})[ \t]{0,20}\((?:${whole}|${cutShort})[ \t]{0,20}$`;
}

const QUOTE = String.raw`\\{0,4}["'“”‘’]`;
const COLON = String.raw`\s{0,20}:\s{0,20}`;
const quoted = (word: string): string => `${QUOTE}(?:${word})${QUOTE}`;

/** With any kind of quotes: a member `type` with the value "tool_call", or a known tool's name beside its arguments. */
function jsonMarksOf(known: string): RegExp[] {
  const named = `${quoted("name|tool_name|tool")}${COLON}${quoted(known)}`;
  return [
    String.raw`[{,]\s{0,40}${quoted("type")}${COLON}${quoted("tool_call")}`,
    String.raw`\{\s{0,40}type${COLON}${QUOTE}?tool_call`,
    String.raw`${named}\s{0,40},\s{0,40}${quoted("arguments|parameters|args")}${COLON}[{"'\\]`,
    String.raw`[}"']\s{0,40},\s{0,40}${named}\s{0,40}\}`,
  ].map((source) => new RegExp(source, "i"));
}
