import type { Block } from "./block.ts";
import { fencedCode } from "./fenced-code.ts";
import { interruptsParagraph } from "./interrupts-paragraph.ts";
import { isBlank, type LineShape, shapeOf } from "./line-shape.ts";
import type { Lines } from "./lines.ts";
import { isBareMarker, listMarker } from "./list-marker.ts";
import { trackParagraph } from "./open-paragraph.ts";
import { isThematicBreak } from "./thematic-break.ts";

/** A list with everything that is indented into its items, headings and code included. */
export function list(lines: Lines, at: number): Block | undefined {
  const opening = markerAt(lines, shapeOf(lines, at));
  if (opening === undefined) return undefined;
  const follow = trackParagraph();
  let isOpen = follow(lineOf(lines, at));
  let content = opening;
  let lastLine = at;
  for (let line = at + 1; line < lines.count;) {
    const shape = shapeOf(lines, line);
    if (isBlank(shape)) {
      if (isEmptyItem(lines, line - 1)) content = Number.POSITIVE_INFINITY;
      isOpen = follow("");
      line += 1;
      continue;
    }
    const isInside = shape.indent >= content;
    const next = isInside ? undefined : markerAt(lines, shape);
    if (next !== undefined) content = next;
    else if (!isInside && (!isOpen || interruptsParagraph(lines, line))) break;
    const code = isInside ? fencedCode(lines, line, content) : undefined;
    lastLine = code?.lastLine ?? line;
    if (code !== undefined) isOpen = follow("");
    else if (isInside || next !== undefined) isOpen = follow(lineOf(lines, line, content));
    line = lastLine + 1;
  }
  return { firstLine: at, lastLine, cut: "lines" };
}

function markerAt(lines: Lines, shape: LineShape): number | undefined {
  return isThematicBreak(lines.text, shape) ? undefined : listMarker(lines.text, shape);
}

/** An item that begins with two blank lines holds nothing. */
const isEmptyItem = (lines: Lines, line: number): boolean =>
  isBareMarker(lines.text, shapeOf(lines, line));

/** A line without the columns that belong to the item around it. */
function lineOf(lines: Lines, line: number, columns = 0): string {
  const { indent, first, end } = shapeOf(lines, line);
  return " ".repeat(Math.max(0, indent - columns)) + lines.text.slice(first, end);
}
