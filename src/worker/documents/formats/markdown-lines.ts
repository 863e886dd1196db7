import type { Block, Lines } from "../lines.ts";

const SPACE = 32;
const TAB = 9;

/** How a line begins. `indent` counts columns, with tab stops of 4; `first` is the offset after the indent. */
export type LineShape = { readonly indent: number; readonly first: number; readonly end: number };

export function shapeOf(lines: Lines, line: number): LineShape {
  const end = lines.end(line);
  let first = lines.start(line);
  let indent = 0;
  for (; first < end; first += 1) {
    const unit = lines.text.charCodeAt(first);
    if (unit === SPACE) indent += 1;
    else if (unit === TAB) indent += 4 - (indent % 4);
    else break;
  }
  return { indent, first, end };
}

export const isBlank = ({ first, end }: LineShape): boolean => first === end;

/** The length of the run of equal characters that begins at an offset. */
function runLength(text: string, from: number, end: number): number {
  const unit = text.charCodeAt(from);
  let at = from;
  while (at < end && text.charCodeAt(at) === unit) at += 1;
  return at - from;
}

/** Whether nothing but blanks and tabs stands between two offsets. */
function isBlankBetween(text: string, from: number, end: number): boolean {
  for (let at = from; at < end; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit !== SPACE && unit !== TAB) return false;
  }
  return true;
}

/** `# Title`, up to six of them, with or without closing ones. */
export function atxHeading(lines: Lines, at: number): Block | undefined {
  const { text } = lines;
  const { indent, first, end } = shapeOf(lines, at);
  if (indent > 3 || text.charAt(first) !== "#") return undefined;
  const level = runLength(text, first, end);
  const after = first + level;
  if (level > 6 || (after < end && !isBlankBetween(text, after, after + 1))) return undefined;
  return {
    firstLine: at,
    lastLine: at,
    cut: "sentences",
    heading: { level, title: dropClosingMarks(text.slice(after, end).trim()) },
  };
}

function dropClosingMarks(title: string): string {
  let end = title.length;
  while (end > 0 && title.charAt(end - 1) === "#") end -= 1;
  if (end === title.length) return title;
  if (end === 0) return "";
  return /[ \t]/.test(title.charAt(end - 1)) ? title.slice(0, end).trimEnd() : title;
}

export type Fence = { readonly mark: string; readonly length: number };

/**
 * Code between fences of ``` or ~~~, the closing one at least as long. Without a closing fence it goes to the end
 * of the document, or of the list item whose content starts at column `container`.
 */
export function fencedCode(lines: Lines, at: number, container = 0): Block | undefined {
  const fence = openingFence(lines.text, shapeOf(lines, at), container);
  if (fence === undefined) return undefined;
  let lastLine = at;
  for (let line = at + 1; line < lines.count; line += 1) {
    const shape = shapeOf(lines, line);
    if (!isBlank(shape) && shape.indent < container) break;
    lastLine = line;
    if (closesFence(lines.text, shape, fence, container)) break;
  }
  return { firstLine: at, lastLine, cut: "lines" };
}

export function openingFence(
  text: string,
  { indent, first, end }: LineShape,
  container = 0,
): Fence | undefined {
  const mark = text.charAt(first);
  if ((mark !== "`" && mark !== "~") || indent > container + 3) return undefined;
  const length = runLength(text, first, end);
  if (length < 3) return undefined;
  // ``` a ``` on one line is code in a paragraph.
  if (mark === "`" && text.slice(first + length, end).includes("`")) return undefined;
  return { mark, length };
}

export function closesFence(text: string, shape: LineShape, fence: Fence, container = 0): boolean {
  if (shape.indent > container + 3 || text.charAt(shape.first) !== fence.mark) return false;
  const length = runLength(text, shape.first, shape.end);
  return length >= fence.length && isBlankBetween(text, shape.first + length, shape.end);
}

/** Starts and ends of HTML that may hold blank lines, by CommonMark 0.31, section 4.6, conditions 1 to 5. */
const ENCLOSED: readonly (readonly [start: RegExp, end: RegExp])[] = [
  [/^<(?:pre|script|style|textarea)(?:[\s>]|$)/i, /<\/(?:pre|script|style|textarea)>/i],
  [/^<!--/, /-->/],
  [/^<\?/, /\?>/],
  [/^<![A-Za-z]/, />/],
  [/^<!\[CDATA\[/, /\]\]>/],
];

/** The tags of condition 6, which begin a block wherever they begin a line. */
const BLOCK_TAGS = new Set(
  (
    "address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt " +
    "fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li " +
    "link main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th " +
    "thead title tr track ul"
  ).split(" "),
);
const TAG_NAME = /^<\/?([A-Za-z][A-Za-z0-9-]*)(?:\s|\/?>|$)/;

/** Condition 7: any other tag that is whole and alone on its line. */
const WHOLE_TAG =
  /^<(?:\/[A-Za-z][A-Za-z0-9-]*\s*|[A-Za-z][A-Za-z0-9-]*(?:\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?)*\s*\/?)>\s*$/;
/** Trying the attributes of a line can take the square of its length. */
const TAG_CHARS = 500;
/** How much of a line is tested for the beginning of a block. */
const HTML_HEAD_CHARS = 64;

/** A block of HTML: up to the end mark of an enclosing element, or for any other tag to the next blank line. */
export function htmlBlock(lines: Lines, at: number): Block | undefined {
  const { indent, first, end } = shapeOf(lines, at);
  if (indent > 3 || lines.text.charAt(first) !== "<") return undefined;
  const line = lines.text.slice(first, Math.min(end, first + TAG_CHARS));
  const enclosed = ENCLOSED.find(([start]) => start.test(line));
  if (enclosed !== undefined) return until(lines, at, (text) => enclosed[1].test(text));
  return beginsBlock(line) || (end - first <= TAG_CHARS && WHOLE_TAG.test(line))
    ? untilBlank(lines, at)
    : undefined;
}

/** Whether a line that begins with `<` ends a paragraph before it: conditions 1 to 6. */
export function opensHtml(line: string): boolean {
  const head = line.slice(0, HTML_HEAD_CHARS);
  return ENCLOSED.some(([start]) => start.test(head)) || beginsBlock(head);
}

const beginsBlock = (line: string): boolean =>
  BLOCK_TAGS.has((TAG_NAME.exec(line)?.[1] ?? "").toLowerCase());

function until(lines: Lines, at: number, isLast: (line: string) => boolean): Block {
  let line = at;
  while (line < lines.count - 1 && !isLast(lines.text.slice(lines.start(line), lines.end(line)))) {
    line += 1;
  }
  return { firstLine: at, lastLine: line, cut: "lines" };
}

function untilBlank(lines: Lines, at: number): Block {
  let line = at;
  while (line + 1 < lines.count && !isBlank(shapeOf(lines, line + 1))) line += 1;
  return { firstLine: at, lastLine: line, cut: "lines" };
}

const MARKER = /^(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)/;
/** The longest marker with the blanks that may follow it. */
const MARKER_CHARS = 16;

/** The column where the content of a list item starts; undefined if the line opens none. */
export function listMarker(text: string, { indent, first, end }: LineShape): number | undefined {
  if (indent > 3) return undefined;
  const head = text.slice(first, Math.min(end, first + MARKER_CHARS));
  const marker = MARKER.exec(head)?.[0];
  if (marker === undefined) return undefined;
  const blanks = /^[ \t]*/.exec(head.slice(marker.length))?.[0].length ?? 0;
  // More than four blanks begin indented code in the item; with none the item starts on the next line.
  return indent + marker.length + (blanks >= 1 && blanks <= 4 ? blanks : 1);
}

/** Whether nothing follows the marker on its line. */
export function isBareMarker(text: string, { first, end }: LineShape): boolean {
  const head = text.slice(first, Math.min(end, first + MARKER_CHARS));
  const marker = MARKER.exec(head)?.[0];
  return marker !== undefined && text.slice(first + marker.length, end).trim() === "";
}

/** `***`, `- - -`, `___`: three or more of one mark and nothing but blanks between. */
export function isThematicBreak(text: string, { indent, first, end }: LineShape): boolean {
  const mark = text.charAt(first);
  if (indent > 3 || (mark !== "*" && mark !== "-" && mark !== "_")) return false;
  let marks = 0;
  for (let at = first; at < end; at += 1) {
    const character = text.charAt(at);
    if (character === mark) marks += 1;
    else if (character !== " " && character !== "\t") return false;
  }
  return marks >= 3;
}

/** The level of the setext heading that this line makes of the paragraph above it; undefined if it is no underline. */
export function underlineLevel(lines: Lines, line: number): 1 | 2 | undefined {
  const { indent, first, end } = shapeOf(lines, line);
  const mark = lines.text.charAt(first);
  if (indent > 3 || (mark !== "=" && mark !== "-")) return undefined;
  if (!isBlankBetween(lines.text, first + runLength(lines.text, first, end), end)) return undefined;
  return mark === "=" ? 1 : 2;
}
