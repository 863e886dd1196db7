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

const TAG = /^<\/?[A-Za-z][A-Za-z0-9-]*(?:[\s/>]|$)/;
/** Enough of a line to see how it begins. */
const HEAD_CHARS = 64;

/** HTML: to the end mark of what encloses it, or to the next blank line for any other tag. */
export function htmlBlock(lines: Lines, at: number): Block | undefined {
  const { indent, first, end } = shapeOf(lines, at);
  if (indent > 3 || lines.text.charAt(first) !== "<") return undefined;
  const head = lines.text.slice(first, Math.min(end, first + HEAD_CHARS));
  const enclosed = ENCLOSED.find(([start]) => start.test(head));
  if (enclosed !== undefined) return until(lines, at, (line) => enclosed[1].test(line));
  return TAG.test(head) ? untilBlank(lines, at) : undefined;
}

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
