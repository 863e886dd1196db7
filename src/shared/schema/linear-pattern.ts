import { createRequire } from "node:module";
import type * as Re2js from "re2js";

/** Loaded on demand: the engine's tables take 25 ms to load. */
const require = createRequire(import.meta.url);
const engine = (): typeof Re2js.RE2JS => (require("re2js") as typeof Re2js).RE2JS;

/** A pattern whose matching time is linear in the text. */
export type LinearPattern = { readonly test: (text: string) => boolean };

/** A parsed pattern, or why it is refused, as a clause that begins with the pattern. */
type ParsedPattern =
  /** `source` is in the engine's syntax; `steps` is the size of its automaton, and so the cost of each character. */
  | { readonly kind: "pattern"; readonly source: string; readonly steps: number }
  | { readonly kind: "fault"; readonly reason: string };

const LONGEST_PATTERN = 1_000;
/** With every counted repeat expanded. */
const MOST_STEPS = 2_000;
/** A Unicode class is a table of hundreds of ranges, built once. */
const STEPS_OF_CLASS = 10;
/** The engine's own limit for a counted repeat, also for the product of nested repeats. */
const MOST_REPEATS = 1_000;

/**
 * Translates a JavaScript pattern (with flag `u`, as JSON Schema requires) for an engine that never backtracks. Lookahead,
 * lookbehind and back-references, which such an engine lacks, are faults that name their place. Linear in the pattern.
 */
export function parsePattern(pattern: string): ParsedPattern {
  if (pattern.length > LONGEST_PATTERN) {
    return faultOf(pattern, `is longer than ${LONGEST_PATTERN.toLocaleString("en-US")} characters`);
  }
  try {
    new RegExp(pattern, "u");
  } catch {
    return faultOf(pattern, "is no regular expression");
  }
  const { source, steps, reason } = translate(pattern);
  if (reason !== undefined) return faultOf(pattern, reason);
  if (steps > MOST_STEPS) {
    return faultOf(
      pattern,
      `is too large with its repeats written out (more than ${MOST_STEPS.toLocaleString("en-US")} steps). ` +
        "Use smaller counts, or * and +, which cost one step",
    );
  }
  const refused = findEngineRefusal(source);
  return refused === undefined ? { kind: "pattern", source, steps } : faultOf(pattern, refused);
}

/** @param source as `parsePattern` returns it */
export function compilePattern(source: string): LinearPattern {
  const compiled = engine().compile(source);
  return { test: (text) => compiled.test(text) };
}

const MOST_SHOWN = 80;

function faultOf(pattern: string, reason: string): ParsedPattern {
  const shown = pattern.length > MOST_SHOWN ? `${pattern.slice(0, MOST_SHOWN)}…` : pattern;
  return { kind: "fault", reason: `${JSON.stringify(shown)} ${reason}` };
}

function findEngineRefusal(source: string): string | undefined {
  try {
    engine().compile(source);
    return undefined;
  } catch (error) {
    const words = error instanceof Error ? error.message.replace(/^[^:]*: /, "") : "";
    if (words.startsWith("invalid repeat count")) {
      return `repeats something more than ${MOST_REPEATS.toLocaleString("en-US")} times`;
    }
    return `is not known to the engine that patterns run in (${words}). Write it with plain groups and classes such as \\p{L}`;
  }
}

type Translation = {
  readonly source: string;
  readonly steps: number;
  readonly reason?: string;
};

/** A JavaScript escape; named groups hold its parts. */
const ESCAPE =
  String.raw`\\u\{(?<long>[0-9a-fA-F]+)\}|\\u(?<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?<low>[dD][c-fC-F][0-9a-fA-F]{2})|` +
  String.raw`\\u(?<short>[0-9a-fA-F]{4})|\\c(?<control>[A-Za-z])|\\(?<sign>[pP])\{(?:(?:Script|sc|General_Category|gc)=)?(?<property>[^}]*)\}|` +
  String.raw`\\(?<escape>[^])`;
const IN_CLASS = new RegExp(`${ESCAPE}|[^]`, "uy");
const OUTSIDE_CLASS = new RegExp(
  String.raw`(?<name>\(\?<(?![=!])[^>]*>)|(?<look>\(\?<?[=!])|(?<reference>\\(?:[1-9]|k<))|(?<any>\[\^\])|(?<none>\[\])|` +
    String.raw`(?<repeat>[*+?]\??|\{(?<fewest>\d+)(?<comma>,?)(?<most>\d*)\}\??)|\(\?[a-z-]*:|${ESCAPE}|[^]`,
  "uy",
);

type Piece = Readonly<Record<string, string | undefined>>;

/** The sizes of all open groups, each with the size of its last piece, which a repeat multiplies. */
type Sizes = { readonly open: { size: number; last: number }[]; classes: number };

function translate(pattern: string): Translation {
  const sizes: Sizes = { open: [{ size: 0, last: 0 }], classes: 0 };
  let source = "";
  let isInClass = false;
  for (let at = 0; at < pattern.length;) {
    const text = pieceAt(isInClass ? IN_CLASS : OUTSIDE_CLASS, pattern, at);
    const [piece] = text;
    const groups: Piece = text.groups ?? {};
    const reason = isInClass ? undefined : findUnsupported(groups, at);
    if (reason !== undefined) return { source, steps: 0, reason };
    source += isInClass ? translateInClass(piece, groups) : translateOutsideClass(piece, groups);
    if (!isInClass) countPiece(piece, groups, sizes);
    if (groups["property"] !== undefined) sizes.classes += STEPS_OF_CLASS;
    isInClass = isInClass ? piece !== "]" : piece === "[";
    at += piece.length;
  }
  return { source, steps: (sizes.open[0]?.size ?? 0) + sizes.classes };
}

function pieceAt(pieces: RegExp, pattern: string, at: number): RegExpExecArray {
  pieces.lastIndex = at;
  const found = pieces.exec(pattern);
  if (found === null) throw new Error(`no piece of a pattern at ${at}`);
  return found;
}

function findUnsupported({ look, reference }: Piece, at: number): string | undefined {
  const place = `at character ${at + 1}`;
  if (look !== undefined) return `looks ahead or back (${look} ${place}), ${NOT_TAKEN}`;
  return reference === undefined
    ? undefined
    : `refers back to a group (${reference} ${place}), ${NOT_TAKEN}`;
}

const NOT_TAKEN =
  "which is not taken: patterns run in an engine that reads a text once. Say it with plain groups, or as a second pattern in allOf";

/** The characters that JavaScript excludes from `.` and includes in `\s`; the engine has fewer. */
const LINE_ENDS = "\\n\\r\\x{2028}\\x{2029}";
const BLANKS =
  "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
const NO_BLANKS =
  "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}";

function translateOutsideClass(text: string, piece: Piece): string {
  // Captures are never read.
  if (piece["name"] !== undefined || text === "(") return "(?:";
  if (piece["any"] !== undefined) return "[\\x{0}-\\x{10ffff}]";
  if (piece["none"] !== undefined) return "[^\\x{0}-\\x{10ffff}]";
  if (text === ".") return `[^${LINE_ENDS}]`;
  if (piece["escape"] === "s") return `[${BLANKS}]`;
  if (piece["escape"] === "S") return `[^${BLANKS}]`;
  return translateCharacter(text, piece);
}

function translateInClass(text: string, piece: Piece): string {
  if (text === "[") return "\\[";
  if (piece["escape"] === "s") return BLANKS;
  if (piece["escape"] === "S") return NO_BLANKS;
  if (piece["escape"] === "b") return "\\x{8}";
  return translateCharacter(text, piece);
}

function translateCharacter(text: string, piece: Piece): string {
  const { long, high, low, short, control, sign, property, escape } = piece;
  const hex = long ?? short;
  if (hex !== undefined) return `\\x{${hex}}`;
  if (high !== undefined && low !== undefined) {
    const pair = String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16));
    return `\\x{${pair.codePointAt(0)?.toString(16) ?? ""}}`;
  }
  if (control !== undefined) return `\\x{${(control.charCodeAt(0) % 32).toString(16)}}`;
  if (property !== undefined) return `\\${sign ?? "p"}{${CATEGORIES[property] ?? property}}`;
  return escape === "0" ? "\\x{0}" : text;
}

/** Long names of Unicode categories, which JavaScript accepts beside their letters. */
const CATEGORIES: Readonly<Record<string, string>> = {
  Letter: "L",
  Uppercase_Letter: "Lu",
  Lowercase_Letter: "Ll",
  Mark: "M",
  Number: "N",
  Decimal_Number: "Nd",
  Punctuation: "P",
  Symbol: "S",
  Separator: "Z",
  Space_Separator: "Zs",
  Other: "C",
  Control: "Cc",
};

function countPiece(text: string, piece: Piece, { open }: Sizes): void {
  const group = open.at(-1);
  if (group === undefined) return;
  if (text.startsWith("(")) {
    open.push({ size: 0, last: 0 });
  } else if (text === ")") {
    const closed = open.pop();
    addSize(open.at(-1), Math.max(1, closed?.size ?? 0));
  } else if (piece["repeat"] === undefined) {
    addSize(group, 1);
  } else {
    addSize(group, group.last * (repeatsOf(piece) - 1) + 1, group.last);
  }
}

function addSize(group: Sizes["open"][number] | undefined, size: number, before = 0): void {
  if (group === undefined) return;
  group.size += size;
  group.last = before + size;
}

/** How many copies of a piece the automaton has; `*`, `+` and `?` need one copy, with a loop or a bypass. */
function repeatsOf({ fewest, comma, most }: Piece): number {
  if (fewest === undefined) return 1;
  const isOpen = comma === "," && most === "";
  const count = comma === "," && !isOpen ? Number(most) : Number(fewest) + (isOpen ? 1 : 0);
  return Math.min(count, MOST_REPEATS + 1);
}
