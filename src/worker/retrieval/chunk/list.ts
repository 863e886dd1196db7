import type { Block } from "./block.ts";
import { fencedCode } from "./fenced-code.ts";
import { interruptsParagraph } from "./interrupts-paragraph.ts";
import { isBlank, type LineShape, shapeOf } from "./line-shape.ts";
import type { Lines } from "./lines.ts";
import { listMarker } from "./list-marker.ts";
import { isThematicBreak } from "./thematic-break.ts";

/** A list with everything that is indented into its items, headings and code included. */
export function list(lines: Lines, at: number): Block | undefined {
  const opening = markerAt(lines, shapeOf(lines, at));
  if (opening === undefined) return undefined;
  let content = opening;
  let lastLine = at;
  for (let line = at + 1; line < lines.count;) {
    const shape = shapeOf(lines, line);
    if (isBlank(shape)) {
      line += 1;
      continue;
    }
    const isInside = shape.indent >= content;
    const next = isInside ? undefined : markerAt(lines, shape);
    if (next !== undefined) content = next;
    else if (!isInside && !continuesLazily(lines, line, lastLine)) break;
    const code = isInside ? fencedCode(lines, line, content) : undefined;
    lastLine = code?.lastLine ?? line;
    line = lastLine + 1;
  }
  return { firstLine: at, lastLine, cut: "lines" };
}

function markerAt(lines: Lines, shape: LineShape): number | undefined {
  return isThematicBreak(lines.text, shape) ? undefined : listMarker(lines.text, shape);
}

const continuesLazily = (lines: Lines, line: number, lastLine: number): boolean =>
  line === lastLine + 1 && !interruptsParagraph(lines, line);
