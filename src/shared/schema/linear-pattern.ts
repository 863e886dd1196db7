import { createRequire } from "node:module";
import type * as Re2js from "re2js";

/** The engine's tables take 25 ms to load: only a command that has a pattern waits for them. */
const require = createRequire(import.meta.url);
const engine = (): typeof Re2js.RE2JS => (require("re2js") as typeof Re2js).RE2JS;

/** A pattern whose time grows with the text alone. */
export type LinearPattern = { readonly test: (text: string) => boolean };

/** What a pattern is made of, or why it is not taken, as a clause that begins with it. */
type ParsedPattern =
  /** `source` is in the engine's syntax; `steps` is how large its machine becomes, and so what a character costs. */
  | { readonly kind: "pattern"; readonly source: string; readonly steps: number }
  | { readonly kind: "fault"; readonly reason: string };

const LONGEST_PATTERN = 1_000;
/** With every counted repeat written out. */
const MOST_STEPS = 2_000;
/** A class of Unicode is a table of hundreds of ranges, to be made once. */
const STEPS_OF_CLASS = 10;
/** The engine's own bound for a counted repeat, also of repeats in one another. */
const MOST_REPEATS = 1_000;

/**
 * Reads a pattern of JavaScript (with its flag `u`, as JSON Schema asks for) for an engine that never goes back. What
 * such an engine can't do, a look ahead or back and a reference to a group, is a fault that names its place.
 * Linear in the pattern.
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
  const refused = refusalOf(source);
  return refused === undefined ? { kind: "pattern", source, steps } : faultOf(pattern, refused);
}

/** @param source what `parsePattern` gave */
export function compilePattern(source: string): LinearPattern {
  const compiled = engine().compile(source);
  return { test: (text) => compiled.test(text) };
}

const MOST_SHOWN = 80;

function faultOf(pattern: string, reason: string): ParsedPattern {
  const shown = pattern.length > MOST_SHOWN ? `${pattern.slice(0, MOST_SHOWN)}…` : pattern;
  return { kind: "fault", reason: `${JSON.stringify(shown)} ${reason}` };
}

function refusalOf(source: string): string | undefined {
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

/** An escape of JavaScript; what it stands for is in its groups. */
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

/** The sizes of the groups that are open, each with that of the last piece in it, which a repeat multiplies. */
type Sizes = { readonly open: { size: number; last: number }[]; classes: number };

function translate(pattern: string): Translation {
  const sizes: Sizes = { open: [{ size: 0, last: 0 }], classes: 0 };
  let source = "";
  let isInClass = false;
  for (let at = 0; at < pattern.length;) {
    const text = pieceAt(isInClass ? IN_CLASS : OUTSIDE_CLASS, pattern, at);
    const [piece] = text;
    const groups: Piece = text.groups ?? {};
    const reason = isInClass ? undefined : reasonAgainst(groups, at);
    if (reason !== undefined) return { source, steps: 0, reason };
    source += isInClass ? ofClass(piece, groups) : outsideClass(piece, groups);
    if (!isInClass) count(piece, groups, sizes);
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

function reasonAgainst({ look, reference }: Piece, at: number): string | undefined {
  const place = `at character ${at + 1}`;
  if (look !== undefined) return `looks ahead or back (${look} ${place}), ${NOT_TAKEN}`;
  return reference === undefined
    ? undefined
    : `refers back to a group (${reference} ${place}), ${NOT_TAKEN}`;
}

const NOT_TAKEN =
  "which is not taken: patterns run in an engine that reads a text once. Say it with plain groups, or as a second pattern in allOf";

/** What JavaScript means by `.` and `\s`; the engine means less. */
const LINE_ENDS = "\\n\\r\\x{2028}\\x{2029}";
const BLANKS =
  "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
const NO_BLANKS =
  "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}";

function outsideClass(text: string, piece: Piece): string {
  // Nothing asks what a group held.
  if (piece["name"] !== undefined || text === "(") return "(?:";
  if (piece["any"] !== undefined) return "[\\x{0}-\\x{10ffff}]";
  if (piece["none"] !== undefined) return "[^\\x{0}-\\x{10ffff}]";
  if (text === ".") return `[^${LINE_ENDS}]`;
  if (piece["escape"] === "s") return `[${BLANKS}]`;
  if (piece["escape"] === "S") return `[^${BLANKS}]`;
  return characterOf(text, piece);
}

function ofClass(text: string, piece: Piece): string {
  if (text === "[") return "\\[";
  if (piece["escape"] === "s") return BLANKS;
  if (piece["escape"] === "S") return NO_BLANKS;
  if (piece["escape"] === "b") return "\\x{8}";
  return characterOf(text, piece);
}

function characterOf(text: string, piece: Piece): string {
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

/** Categories by the names that JavaScript takes beside their letters. */
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

function count(text: string, piece: Piece, { open }: Sizes): void {
  const group = open.at(-1);
  if (group === undefined) return;
  if (text.startsWith("(")) {
    open.push({ size: 0, last: 0 });
  } else if (text === ")") {
    const closed = open.pop();
    add(open.at(-1), Math.max(1, closed?.size ?? 0));
  } else if (piece["repeat"] === undefined) {
    add(group, 1);
  } else {
    add(group, group.last * (repeatsOf(piece) - 1) + 1, group.last);
  }
}

function add(group: Sizes["open"][number] | undefined, size: number, before = 0): void {
  if (group === undefined) return;
  group.size += size;
  group.last = before + size;
}

/** How often a piece stands in the machine; `*`, `+` and `?` lead back to the one or round it. */
function repeatsOf({ fewest, comma, most }: Piece): number {
  if (fewest === undefined) return 1;
  const isOpen = comma === "," && most === "";
  const count = comma === "," && !isOpen ? Number(most) : Number(fewest) + (isOpen ? 1 : 0);
  return Math.min(count, MOST_REPEATS + 1);
}
