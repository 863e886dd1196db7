import type { Block } from "./block.ts";
import { interruptsParagraph } from "./interrupts-paragraph.ts";
import { isBlank, shapeOf } from "./line-shape.ts";
import type { Lines } from "./lines.ts";
import { lastRow, opensTable } from "./table.ts";
import { underlineLevel } from "./underline-level.ts";

/** Lines of prose; a setext heading when a line of `=` or `-` underlines them; or a table. */
export function paragraph(lines: Lines, at: number): Block {
  if (opensTable(lines, at)) return { firstLine: at, lastLine: lastRow(lines, at), cut: "lines" };
  let line = at;
  while (line + 1 < lines.count) {
    const level = underlineLevel(lines, line + 1);
    if (level !== undefined) return setextHeading(lines, at, line + 1, level);
    if (endsParagraph(lines, line + 1)) break;
    line += 1;
  }
  return { firstLine: at, lastLine: line, cut: "sentences" };
}

const endsParagraph = (lines: Lines, line: number): boolean =>
  isBlank(shapeOf(lines, line)) || interruptsParagraph(lines, line) || opensTable(lines, line);

function setextHeading(lines: Lines, at: number, underline: number, level: 1 | 2): Block {
  const title = lines.text.slice(lines.start(at), lines.end(underline - 1));
  return {
    firstLine: at,
    lastLine: underline,
    cut: "sentences",
    heading: { level, title: title.trim().replace(/\s+/g, " ") },
  };
}
