import { MAX_JSON_CHARS } from "../text/model-json.ts";
import { toolName } from "./envelope.ts";

/** A call as a line of Python; `args` are named, those by position get the names of the tool's parameters. */
type PythonCall = {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
};

type PythonRead =
  | { readonly kind: "calls"; readonly calls: readonly PythonCall[]; readonly end: number }
  | { readonly kind: "open" }
  | { readonly kind: "none" };

/** Names of a tool's parameters in order, for arguments without a name; none for a tool that is not known. */
type ParametersOf = (tool: string) => readonly string[];

const MAX_DEPTH = 32;

/** Thrown where the text is no call; `open` where it only ends too early. */
class NoCall extends Error {
  readonly kind: "open" | "none";
  constructor(kind: "open" | "none") {
    super(kind);
    this.kind = kind;
  }
}

/**
 * The calls that a text holds at a place as Python: `name(key="value")`, several in a list, one inside of `print(…)`.
 * Values are literals: strings, numbers, True, False, None, lists and dicts; anything else is no call. Reads 65,536
 * characters and 32 levels at most. Linear.
 */
export function parsePythonCalls(text: string, at: number, parametersOf: ParametersOf): PythonRead {
  const cursor = { text: text.slice(at, at + MAX_JSON_CHARS), at: 0 };
  try {
    const calls = cursor.text.startsWith("[")
      ? listOf(cursor, () => call(cursor, parametersOf), "]")
      : [printedCall(cursor, parametersOf)];
    return calls.length === 0 ? { kind: "none" } : { kind: "calls", calls, end: at + cursor.at };
  } catch (error) {
    if (error instanceof NoCall) return { kind: error.kind };
    throw error;
  }
}

type Cursor = { readonly text: string; at: number };

const NAME = /[A-Za-z_][\w.-]{0,127}/y;
const KEY = /([A-Za-z_]\w{0,127})\s*=(?!=)\s*/y;
const BLANKS = /(?:\s|#[^\n]*)*/y;
const NUMBER = /[+-]?\d[\d_]{0,40}(?:\.\d{0,40})?(?:e[+-]?\d{1,5})?/iy;
const WORD = /[A-Za-z]{1,8}/y;
const WORDS: Readonly<Record<string, unknown>> = {
  true: true,
  false: false,
  none: null,
  null: null,
};

function printedCall(cursor: Cursor, parametersOf: ParametersOf): PythonCall {
  const isPrinted = take(cursor, /print\s*\(\s*/y) !== null;
  const called = call(cursor, parametersOf);
  if (isPrinted) expect(cursor, ")");
  return called;
}

function call(cursor: Cursor, parametersOf: ParametersOf): PythonCall {
  const name = take(cursor, NAME)?.[0] ?? fail(cursor);
  blanks(cursor);
  expectHere(cursor, "(");
  const tool = toolName(name);
  const unnamed = [...parametersOf(tool)];
  const args: [string, unknown][] = [];
  cursor.at -= 1;
  listOf(
    cursor,
    () => {
      const key = take(cursor, KEY)?.[1] ?? unnamed.shift() ?? fail(cursor);
      args.push([key, literal(cursor, 0)]);
    },
    ")",
  );
  return { name: tool, args: Object.fromEntries(args) };
}

/** What stands between the bracket at the cursor and its end, parted by commas, the last of which may end it. */
function listOf<T>(cursor: Cursor, item: () => T, end: string): T[] {
  const items: T[] = [];
  cursor.at += 1;
  for (;;) {
    blanks(cursor);
    if (cursor.text.charAt(cursor.at) === end) {
      cursor.at += 1;
      return items;
    }
    items.push(item());
    blanks(cursor);
    if (cursor.text.charAt(cursor.at) !== end) expectHere(cursor, ",");
  }
}

function literal(cursor: Cursor, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new NoCall("none");
  const char = cursor.text.charAt(cursor.at);
  if (char === "[") return listOf(cursor, () => literal(cursor, depth + 1), "]");
  if (char === "(") return listOf(cursor, () => literal(cursor, depth + 1), ")");
  if (char === "{") return Object.fromEntries(listOf(cursor, () => member(cursor, depth), "}"));
  const prefix = take(cursor, /[rubf]{0,2}(?=["'])/iy)?.[0].toLowerCase();
  if (prefix !== undefined) return text(cursor, prefix.includes("r") ? "raw" : "escaped");
  const number = take(cursor, NUMBER)?.[0];
  if (number !== undefined) return Number(number.replaceAll("_", ""));
  const word = take(cursor, WORD)?.[0].toLowerCase() ?? fail(cursor);
  return Object.hasOwn(WORDS, word) ? WORDS[word] : fail(cursor);
}

function member(cursor: Cursor, depth: number): [string, unknown] {
  const key = literal(cursor, depth + 1);
  blanks(cursor);
  expectHere(cursor, ":");
  blanks(cursor);
  return [String(key), literal(cursor, depth + 1)];
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  "0": "\0",
  "\n": "",
};

/** A string in single, double or triple quotes; a line break ends the first two too early. */
function text(cursor: Cursor, escapes: "raw" | "escaped"): string {
  const quote = take(cursor, /"""|'''|["']/y)?.[0] ?? fail(cursor);
  const pieces: string[] = [];
  for (;;) {
    const plain = take(cursor, /[^\\"'\n]{1,4096}/y)?.[0];
    if (plain !== undefined) pieces.push(plain);
    if (cursor.text.startsWith(quote, cursor.at)) {
      cursor.at += quote.length;
      return pieces.join("");
    }
    const char = cursor.text.charAt(cursor.at);
    if (char === "" || (char === "\n" && quote.length === 1)) return fail(cursor);
    if (char !== "\\" || escapes === "raw") {
      pieces.push(char);
      cursor.at += 1;
    } else pieces.push(escaped(cursor));
  }
}

function escaped(cursor: Cursor): string {
  const code = take(cursor, /\\(?:u([\da-f]{4})|x([\da-f]{2}))/iy);
  if (code !== null) return String.fromCharCode(Number.parseInt(code[1] ?? code[2] ?? "", 16));
  const char = cursor.text.charAt(cursor.at + 1);
  cursor.at += 2;
  return ESCAPES[char] ?? char;
}

const blanks = (cursor: Cursor): void => void take(cursor, BLANKS);

function expect(cursor: Cursor, char: string): void {
  blanks(cursor);
  expectHere(cursor, char);
}

function expectHere(cursor: Cursor, char: string): void {
  if (cursor.text.charAt(cursor.at) !== char) fail(cursor);
  cursor.at += 1;
}

function take(cursor: Cursor, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.text);
  if (found !== null) cursor.at += found[0].length;
  return found;
}

function fail(cursor: Cursor): never {
  throw new NoCall(cursor.at >= cursor.text.length ? "open" : "none");
}
