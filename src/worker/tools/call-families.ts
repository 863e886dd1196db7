import {
  argumentPairs,
  escapedPairs,
  functionJson,
  functionTag,
  invokeTag,
  jsonCall,
  keyedCall,
  NAME,
  namedJson,
  oneOf,
  pythonCall,
} from "./call-syntaxes.ts";
import type { Syntax } from "./call-syntaxes.ts";
import type { ToolRegistry } from "./registry.ts";

/** How a family of models writes a call in words, where its host does not take it out of them. */
type CallFamily = {
  readonly name: string;
  /**
   * Source of a pattern for what announces a call, with what has to follow as a look-ahead, so that a sentence about
   * the mark is none. It is looked for at the start of a reply by the parser and anywhere by the detector; every
   * repeat in it is bounded.
   */
  readonly mark: string;
  readonly read: Syntax;
};

const W = String.raw`\s{0,100}`;
const FENCE = "(?:(?:`{3,9}|~{3,9})[\\w-]{0,20}\\s{0,100})?";
const OBJECT = String.raw`\{|\[${W}\{`;
const PYTHON = String.raw`(?:\[${W})?(?:print${W}\(${W})?${NAME}${W}\(${W}(?:[A-Za-z_]\w{0,127}${W}=|["'\])])`;
const TAGS = String.raw`<(?:function|invoke)[=\s]|<[\w.-]{1,20}:invoke\s|<[|｜]DSML[|｜]invoke\s`;
const SEPARATOR = String.raw`<[|｜](?:tool[▁_ ]sep|tool_call_argument_begin)[|｜]>`;
const HARMONY_HEADER = String.raw`to=functions\.(${NAME})(?:\s|<\|(?:channel|constrain|message)\|>|json|code|commentary|analysis){0,12}(?=\{)`;

const ANY_BODY = oneOf(jsonCall, functionJson, functionTag, invokeTag, argumentPairs, pythonCall);

/** @param known alternatives of a pattern: the tools that a call may name where a mark alone announces none */
const familiesFor = (known: string): readonly CallFamily[] => [
  {
    // Qwen, Hermes, Granite, Phi, Jamba, Hunyuan, Nemotron, GLM, OLMo, MiniMax, Seed, LongCat, Ernie
    name: "tags",
    mark: String.raw`(?:<\|?(?:tool_?calls?|function_calls?|tool_code|(?:longcat_|seed:|minimax:)tool_call|[|｜]DSML[|｜](?:function|tool)_calls)\|?>${W}){1,3}${FENCE}(?=${OBJECT}|${PYTHON}|${TAGS}|<\w|${NAME}${W}<arg_key>|(?:${known})\b)`,
    read: ANY_BODY,
  },
  {
    name: "Mistral",
    mark: String.raw`\[TOOL_CALLS\]${W}${FENCE}(?=${OBJECT}|${NAME}${W}(?:\[CALL_ID\]|\[ARGS\]|\{))`,
    read: oneOf(
      jsonCall,
      namedJson(String.raw`(${NAME})\s{0,40}(?:\[CALL_ID\][\w-]{1,64}\s{0,40})?(?:\[ARGS\])?`),
    ),
  },
  {
    name: "Llama",
    mark: String.raw`<\|python_(?:tag|start)\|>${W}${FENCE}(?=${OBJECT}|${PYTHON})`,
    read: oneOf(jsonCall, pythonCall),
  },
  {
    // Llama 3.1, Qwen3-Coder without its tag
    name: "function tag",
    mark: String.raw`(?=<function(?:=|\s{1,4}name=)["']?(?:(?:${known})["']?\s{0,4}>|${NAME}["']?\s{0,4}>${W}(?:\{|<parameter[=\s])))`,
    read: oneOf(functionJson, functionTag),
  },
  {
    name: "invoke tag",
    mark: String.raw`(?=<(?:[\w.-]{1,20}:|[|｜]DSML[|｜])?invoke\s{1,4}name=["']${NAME}["']\s{0,4}>${W}<(?:[\w.-]{1,20}:|[|｜]DSML[|｜])?parameter\s)`,
    read: invokeTag,
  },
  {
    // DeepSeek V3 and R1, Kimi K2, Step 3
    name: "DeepSeek",
    mark: String.raw`(?:<[|｜]tool[▁_ ]calls?(?:[▁_ ]section)?[▁_ ]begin[|｜]>${W}){1,3}(?:function${W}${SEPARATOR}${W}(?=<|${NAME})|(?=${NAME}(?::\d{1,6})?${W}${SEPARATOR}))`,
    read: oneOf(invokeTag, namedJson(String.raw`(${NAME})(?::\d{1,6})?\s{0,40}(?:${SEPARATOR})?`)),
  },
  {
    name: "Command-R",
    mark: String.raw`(?:<\|START_ACTION\|>${W}${FENCE}(?=${OBJECT})|Action:${W}${FENCE}(?=\[${W}\{${W}"tool_))`,
    read: jsonCall,
  },
  {
    name: "InternLM",
    mark: String.raw`<\|action_start\|>${W}<\|(?:plugin|interpreter)\|>${W}(?=\{)`,
    read: jsonCall,
  },
  { name: "Phi and Firefunction", mark: String.raw`functools${W}(?=\[${W}\{)`, read: jsonCall },
  { name: "Apertus", mark: String.raw`<\|tools_prefix\|>${W}(?=\[)`, read: keyedCall },
  {
    // LFM2, MiniCPM
    name: "LFM",
    mark: String.raw`<\|tool_call_start\|>${W}${FENCE}(?=${OBJECT}|${PYTHON})`,
    read: oneOf(jsonCall, pythonCall),
  },
  {
    name: "Gemma",
    mark:
      "(?:`{3,9}|~{3,9})[ \\t]{0,4}(?:tool_code|tool_calls?|function_calls?)" +
      String.raw`\b${W}(?=${OBJECT}|${PYTHON}|${TAGS})`,
    read: ANY_BODY,
  },
  {
    name: "FunctionGemma",
    mark: String.raw`<start_function_call>${W}(?=call:${NAME}\{)`,
    read: escapedPairs,
  },
  {
    // gpt-oss; its marks are gone where a host hides special tokens
    name: "harmony",
    mark: String.raw`(?:<\|channel\|>commentary<\|message\|>[^<]{0,2000}<\|end\|>\s{0,20})?(?:<\|start\|>)?(?:assistant)?\s?(?:<\|channel\|>)?(?:commentary|analysis)?\s{0,4}(?=${HARMONY_HEADER})`,
    read: namedJson(HARMONY_HEADER),
  },
  {
    name: "ReAct",
    mark: String.raw`(?=Action:[ \t]{0,20}(?:${known})\s{1,20}Action Input:)`,
    read: namedJson(String.raw`Action:[ \t]{0,20}(${NAME})\s{1,20}Action Input:`),
  },
  {
    // GLM 4, Functionary
    name: "name and JSON",
    mark: String.raw`(?=(?:>>>)?(?:${known})${W}\{)`,
    read: namedJson(String.raw`(?:>>>)?(${NAME})\s{0,40}`),
  },
];

/** How families of models write calls of the tools of a registry. */
export type CallFamilies = {
  /** The family whose mark stands at a place of a text, and where its call begins; null where none does. */
  at(text: string, at: number): { readonly family: CallFamily; readonly from: number } | null;
  /** Whether the mark of a family stands anywhere in a text, with what has to follow it. */
  holdsMark(text: string): boolean;
};

/** Alternatives of a pattern; names of tools of servers hold dots. */
export const patternOf = (names: readonly string[]): string =>
  names.map((name) => name.replaceAll(".", "\\.")).join("|");

export function familiesOf({ names }: Pick<ToolRegistry, "names">): CallFamilies {
  const known = patternOf(names);
  const compiled = familiesFor(known).map((family) => ({
    family,
    sticky: new RegExp(`(?:${family.mark})`, "iy"),
    anywhere: new RegExp(family.mark, "i"),
  }));
  const ownLine = new RegExp(ownLineOf(known), "im");
  return {
    at(text, at) {
      for (const { family, sticky } of compiled) {
        sticky.lastIndex = at;
        const found = sticky.exec(text);
        if (found !== null) return { family, from: at + found[0].length };
      }
      return null;
    },
    holdsMark: (text) => compiled.some(({ anywhere }) => anywhere.test(text)) || ownLine.test(text),
  };
}

/**
 * Python that nothing announces (Llama 3.2, ToolACE, Gemma): a line that calls a known tool and holds nothing else; in
 * the middle of a line it is talked about.
 */
const ownLineOf = (known: string): string =>
  String.raw`^[ \t>]{0,8}\[?(?:print\()?(?:${known})[ \t]{0,20}\((?:[^()\n"']|"[^"\n]{0,1000}"|'[^'\n]{0,1000}'){0,200}\){1,2}(?:[ \t]{0,4},[^\n]{0,2000})?\]?[ \t]{0,20}$`;
