import type { Block } from "./block.ts";
import { interruptsParagraph } from "./interrupts-paragraph.ts";
import { isBlank, isBlankBetween, runLength, shapeOf } from "./line-shape.ts";
import type { Lines } from "./lines.ts";
import { lastRow, opensTable } from "./table.ts";

/** Lines of prose; a setext heading when a line of `=` or `-` underlines them; or a table. */
export function paragraph(lines: Lines, at: number): Block {
  if (opensTable(lines, at)) return { firstLine: at, lastLine: lastRow(lines, at), cut: "lines" };
  const prose = firstProse(lines, at);
  let line = at;
  while (line + 1 < lines.count) {
    const level = line >= prose ? underlineLevel(lines, line + 1) : undefined;
    if (level !== undefined) return setextHeading(lines, at, line + 1, level);
    if (endsParagraph(lines, line + 1)) break;
    line += 1;
  }
  return { firstLine: at, lastLine: line, cut: "sentences" };
}

const endsParagraph = (lines: Lines, line: number): boolean =>
  isBlank(shapeOf(lines, line)) || interruptsParagraph(lines, line) || opensTable(lines, line);

/** `[label]: target "title"` on one line. */
const DEFINITION = /^\[[^[\]]+\]:[ \t]*\S+(?:[ \t]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t]*$/;
const DEFINITION_CHARS = 1_000;

/** The first line that is no link reference definition: those can't be the text of a heading. */
function firstProse(lines: Lines, at: number): number {
  let line = at;
  while (line < lines.count && isDefinition(lines, line)) line += 1;
  return line;
}

function isDefinition(lines: Lines, line: number): boolean {
  const { indent, first, end } = shapeOf(lines, line);
  if (indent > 3 || lines.text.charAt(first) !== "[" || end - first > DEFINITION_CHARS)
    return false;
  return DEFINITION.test(lines.text.slice(first, end));
}

function underlineLevel(lines: Lines, line: number): 1 | 2 | undefined {
  const { indent, first, end } = shapeOf(lines, line);
  const mark = lines.text.charAt(first);
  if (indent > 3 || (mark !== "=" && mark !== "-")) return undefined;
  if (!isBlankBetween(lines.text, first + runLength(lines.text, first, end), end)) return undefined;
  return mark === "=" ? 1 : 2;
}

function setextHeading(lines: Lines, at: number, underline: number, level: 1 | 2): Block {
  const title = lines.text.slice(lines.start(at), lines.end(underline - 1));
  return {
    firstLine: at,
    lastLine: underline,
    cut: "sentences",
    heading: { level, title: title.trim().replace(/\s+/g, " ") },
  };
}
