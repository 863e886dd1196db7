import { normaliseText } from "../text/normalise-text.ts";
import { endsWith, enterFolder, parsePathPattern, startOf } from "./path-pattern.ts";
import type { PathPattern } from "./path-pattern.ts";

/** Whether a path (with `/`) matches. */
type Glob = (path: string) => boolean;

const MOST_CHARS = 500;
const MOST_ALTERNATIVES = 200;

/** Whether an argument of the command line is a glob: it contains a wildcard, a set or a list in braces, or begins with `!`. */
export const isGlob = (text: string): boolean =>
  /^!|[*?]/.test(text) ||
  insidesOf(text, "[", "]").some((inside) => inside !== "") ||
  insidesOf(text, "{", "}").some((inside) => /,|\.\./.test(inside));

/** The text between each end and the first start before it, in one pass, however many starts have no end. */
const insidesOf = (text: string, start: string, end: string): readonly string[] =>
  text
    .split(end)
    .slice(0, -1)
    .flatMap((part) => {
      const at = part.indexOf(start);
      return at === -1 ? [] : [part.slice(at + 1)];
    });

/**
 * Parses a glob: `*`, `?`, sets ([a-z], [!a-z]), `**` for any folders, lists (`{a,b}`, `{1..3}`, nested), `\` to escape a
 * character, and a leading `!` for all other paths. The time is at most the product of both lengths.
 * @returns the problem of a glob with more than 500 characters or 200 alternatives, or with groups in parentheses
 */
export function parseGlob(text: string): Glob | { readonly problem: string } {
  if (text.length > MOST_CHARS) return { problem: `has more than ${MOST_CHARS} characters` };
  const marks = /^!*/.exec(text)?.[0].length ?? 0;
  const glob = normaliseText(text.slice(marks), "NFC").replace(/^\.\//, "");
  if (/[@+?*!]\([^)]*\)|\([^()]*\|/.test(text)) {
    return { problem: "holds a group in parentheses: write {a,b} for a choice" };
  }
  const alternatives = expandBraces(glob);
  if (alternatives === undefined)
    return { problem: `stands for more than ${MOST_ALTERNATIVES} patterns` };
  // `notes/**` also matches `notes` itself.
  const open = alternatives.filter((each) => each.endsWith("/**")).map((each) => each.slice(0, -3));
  const patterns = [...alternatives, ...open]
    .map(parsePathPattern)
    .filter((pattern) => pattern !== undefined);
  return (path) => {
    const names = normaliseText(path, "NFC").split("/");
    return patterns.some((pattern) => matches(pattern, names)) === (marks % 2 === 0);
  };
}

function matches(pattern: PathPattern, names: readonly string[]): boolean {
  let places = startOf(pattern);
  for (const name of names.slice(0, -1)) {
    places = enterFolder(pattern, places, name);
    if (places.length === 0) return false;
  }
  return endsWith(pattern, places, names.at(-1) ?? "");
}

type Braces = { readonly start: number; readonly end: number; readonly choices: readonly string[] };

/** Expands the lists of a text; undefined for more than 200 alternatives. A `{` that opens no list is a literal. */
function expandBraces(glob: string): readonly string[] | undefined {
  const open = [{ before: "", rest: glob }];
  const done: string[] = [];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { before, rest } = next;
    const braces = firstBraces(rest);
    if (braces === undefined) done.push(before + rest);
    else {
      const { start, end, choices } = braces;
      for (const choice of choices) {
        open.push({ before: before + rest.slice(0, start), rest: choice + rest.slice(end) });
      }
    }
    if (open.length + done.length > MOST_ALTERNATIVES) return undefined;
  }
  return done;
}

/** The first list of a text, found in one pass: after a `{` without an end there is no list. */
function firstBraces(text: string): Braces | undefined {
  const opened: { start: number; commas: number[] }[] = [];
  let found: Braces | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === "\\") at += 1;
    else if (char === "[") at = Math.max(at, text.indexOf("]", at + 2));
    else if (char === "{") opened.push({ start: at, commas: [] });
    else if (char === ",") opened.at(-1)?.commas.push(at);
    else if (char === "}") {
      const braces = opened.pop();
      if (braces === undefined) continue;
      const choices = choicesOf(text, braces, at);
      if (choices !== undefined && (found === undefined || braces.start < found.start)) {
        found = { start: braces.start, end: at + 1, choices };
      }
    }
  }
  return found;
}

function choicesOf(
  text: string,
  { start, commas }: { start: number; commas: readonly number[] },
  end: number,
): readonly string[] | undefined {
  if (commas.length === 0) return rangeOf(text.slice(start + 1, end));
  const cuts = [start, ...commas, end];
  return cuts.slice(1).map((cut, index) => text.slice((cuts[index] ?? start) + 1, cut));
}

/** `1..3`, `03..11` or `a..c`, upwards or downwards; undefined for anything else. */
function rangeOf(text: string): readonly string[] | undefined {
  const [, first = "", last = ""] =
    /^(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])$/.exec(text) ?? [];
  const isNumeric = /\d/.test(first);
  if (first === "" || isNumeric !== /\d/.test(last)) return undefined;
  const [from, to] = [first, last].map((end) => (isNumeric ? Number(end) : end.charCodeAt(0)));
  if (from === undefined || to === undefined) return undefined;
  const width =
    /^-?0\d/.test(first) || /^-?0\d/.test(last) ? Math.max(first.length, last.length) : 0;
  const count = Math.min(Math.abs(to - from), MOST_ALTERNATIVES) + 1;
  return Array.from({ length: count }, (_, index) => {
    const value = from + (to < from ? -index : index);
    return isNumeric ? String(value).padStart(width, "0") : String.fromCharCode(value);
  });
}
