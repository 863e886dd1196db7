import { parseJson } from "../../../shared/schema/json-value.ts";
import type { CutSettings, Span } from "../cut-span.ts";
import { NO_FRONTMATTER } from "../frontmatter.ts";
import type { Format } from "./format.ts";
import { containerIn, KEY_CHARS, OUTERMOST, packEntries, pointerIn } from "./pointed-entries.ts";
import type { Container, PointedEntry } from "./pointed-entries.ts";
import { UTF8 } from "./utf8.ts";

/** JSON, and lines of it; a file that only claims to be JSON is plain text. */
export const JSON_TEXT: Format = {
  name: "json",
  extensions: [".json", ".jsonl", ".ndjson"],
  extractor: UTF8,
  isOf: (text, extension) => extension !== ".json" || isJson(text),
  parseFrontmatter: () => NO_FRONTMATTER,
  cut: (lines, firstLine, settings) => ({
    kind: "pieces",
    pieces: packEntries(
      lines.text,
      scanJson(lines.text, lines.start(firstLine), settings),
      settings,
    ),
  }),
};

const isJson = (text: string): boolean =>
  parseJson(text.startsWith("\uFEFF") ? text.slice(1) : text) !== undefined;

/**
 * Cuts JSON, or lines of JSON, into entries: an array or object that fits into a chunk stays whole, a longer one is
 * cut at its commas. The entries follow each other without a gap. Takes any text, and time in proportion to it.
 */
function scanJson(text: string, start: number, settings: CutSettings): PointedEntry[] {
  const scan: Scan = {
    text,
    ends: matchBrackets(text),
    settings,
    entries: [],
    container: null,
    first: undefined,
    from: start,
    lines: 0,
  };
  for (let at = start; at < text.length; at += 1) at = parseToken(scan, at);
  if (scan.from < text.length) finishEntry(scan, text.length);
  return scan.entries;
}

type Scan = {
  readonly text: string;
  /** Of brackets, by the offset of the opening one. */
  readonly ends: Int32Array;
  readonly settings: CutSettings;
  readonly entries: PointedEntry[];
  container: OpenContainer | null;
  /** Where the first value of the entry that is being read stands. */
  first: Omit<PointedEntry, keyof Span> | undefined;
  from: number;
  /** That ended outside of every bracket. */
  lines: number;
};

/** @returns the offset of the last character that it has read */
function parseToken(scan: Scan, at: number): number {
  const character = scan.text.charAt(at);
  switch (character) {
    case "{":
    case "[":
      return parseOpening(scan, at);
    case "}":
    case "]":
      scan.container = scan.container?.outer ?? null;
      return at;
    case '"':
      return parseString(scan, at);
    case ",":
    case "\n":
      parseSeparator(scan, character, at);
      return at;
    default:
      if (/[\w-]/.test(character)) meetValue(scan);
      return at;
  }
}

function parseOpening(scan: Scan, at: number): number {
  const end = scan.ends[at] ?? at;
  if (end - at < scan.settings.maxChars) {
    meetValue(scan);
    return end;
  }
  scan.container = openContainer(scan.text.charAt(at), scan);
  return at;
}

function parseString(scan: Scan, at: number): number {
  const { text, container } = scan;
  const end = endOfString(text, at);
  if (container?.kind === "object" && isKey(text, end)) container.key = keyOf(text, at, end);
  else meetValue(scan);
  return end;
}

function parseSeparator(scan: Scan, character: "," | "\n", at: number): void {
  const { container } = scan;
  if (character === "\n") {
    if (container !== null || scan.first === undefined) return;
    finishEntry(scan, at + 1);
    scan.lines += 1;
  } else if (container !== null) {
    finishEntry(scan, at + 1);
    if (container.kind === "array") container.key = String(Number(container.key) + 1);
  }
}

function meetValue(scan: Scan): void {
  const { container, lines } = scan;
  const ofLine = lines === 0 ? null : `/${lines}`;
  scan.first ??= {
    pointer: container === null ? ofLine : pointerIn(container, container.key),
    container,
  };
}

function finishEntry(scan: Scan, end: number): void {
  scan.entries.push({ start: scan.from, end, ...(scan.first ?? NOTHING) });
  scan.first = undefined;
  scan.from = end;
}

const NOTHING = { pointer: null, container: null } as const;

/** Whether a colon follows the string that ends there. */
function isKey(text: string, end: number): boolean {
  let at = end + 1;
  while (/[ \t\r\n]/.test(text.charAt(at))) at += 1;
  return text.charAt(at) === ":";
}

/** As it is spelled where it holds what JSON does not know. */
function keyOf(text: string, start: number, end: number): string {
  const spelled = text.slice(start, Math.min(end + 1, start + KEY_CHARS));
  try {
    return String(JSON.parse(spelled)).toWellFormed();
  } catch {
    return spelled.slice(1, -1);
  }
}

/** An array or object that is cut into its entries. */
type OpenContainer = Container & {
  readonly kind: "array" | "object";
  /** Null for the outermost. */
  readonly outer: OpenContainer | null;
  /** Of the entry that is being read. */
  key: string;
};

const openContainer = (
  bracket: string,
  { container: outer, lines }: Pick<Scan, "container" | "lines">,
): OpenContainer => ({
  ...(outer === null ? outermostIn(lines) : containerIn(outer, outer.key)),
  kind: bracket === "[" ? "array" : "object",
  outer,
  key: bracket === "[" ? "0" : "",
});

/** The first line may be a whole document. */
const outermostIn = (lines: number): Container =>
  lines === 0 ? OUTERMOST : containerIn(OUTERMOST, String(lines));

/** Where each bracket of JSON is closed: by the offset of the opening one. One that never is ends with the text. */
function matchBrackets(text: string): Int32Array {
  const ends = new Int32Array(text.length);
  const open: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '"') at = endOfString(text, at);
    else if (character === "{" || character === "[") open.push(at);
    else if (character === "}" || character === "]") {
      const opening = open.pop();
      if (opening !== undefined) ends[opening] = at;
    }
  }
  for (const opening of open) ends[opening] = text.length - 1;
  return ends;
}

/** The offset of the quote that closes a string, or the last one of the text. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === "\\") at += 1;
    else if (character === '"') return at;
  }
  return text.length - 1;
}
