import type { Block } from "./block.ts";
import { interruptsParagraph } from "./interrupts-paragraph.ts";
import { isBlank, isBlankBetween, runLength, shapeOf } from "./line-shape.ts";
import type { Lines } from "./lines.ts";

/** Lines of prose, or of a table; a setext heading when a line of `=` or `-` underlines them. */
export function paragraph(lines: Lines, at: number): Block {
  let line = at;
  while (line + 1 < lines.count) {
    const level = underlineLevel(lines, line + 1);
    if (level !== undefined) return setextHeading(lines, at, line + 1, level);
    if (isBlank(shapeOf(lines, line + 1)) || interruptsParagraph(lines, line + 1)) break;
    line += 1;
  }
  const isTable = line > at && isDelimiterRow(lines, at + 1);
  return { firstLine: at, lastLine: line, cut: isTable ? "lines" : "sentences" };
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

function isDelimiterRow(lines: Lines, line: number): boolean {
  const row = lines.text.slice(lines.start(line), lines.end(line));
  return row.includes("|") && row.includes("-") && /^[\s|:-]+$/.test(row);
}
