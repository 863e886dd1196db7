import type { Block } from "./block.ts";
import { isBlank, shapeOf } from "./line-shape.ts";
import type { Lines } from "./lines.ts";

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
/** Enough of a line to see how it begins. */
const HEAD_CHARS = 64;

/** HTML: to the end mark of what encloses it, or to the next blank line for any other tag. */
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
  const head = line.slice(0, HEAD_CHARS);
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
