import type { Block } from "./block.ts";
import { interruptsParagraph } from "./interrupts-paragraph.ts";
import { isBlank, shapeOf } from "./line-shape.ts";
import type { Lines } from "./lines.ts";
import { listMarker } from "./list-marker.ts";
import { trackParagraph } from "./open-paragraph.ts";

/** A block quote. What looks like a heading inside it gives the document no structure. */
export function quote(lines: Lines, at: number): Block | undefined {
  if (!isQuoted(lines, at)) return undefined;
  const follow = trackParagraph();
  let isOpen = false;
  let line = at;
  for (; line < lines.count; line += 1) {
    if (isQuoted(lines, line)) isOpen = follow(contentOf(lines, line));
    else if (!isOpen || endsQuote(lines, line)) break;
  }
  return { firstLine: at, lastLine: line - 1, cut: "lines" };
}

const contentOf = (lines: Lines, line: number): string =>
  lines.text.slice(shapeOf(lines, line).first + 1, lines.end(line)).replace(/^ /, "");

function isQuoted(lines: Lines, line: number): boolean {
  const { indent, first } = shapeOf(lines, line);
  return indent <= 3 && lines.text.charAt(first) === ">";
}

/** Any list ends it: what can't interrupt a paragraph can only not do so within the same container. */
function endsQuote(lines: Lines, line: number): boolean {
  const shape = shapeOf(lines, line);
  return (
    isBlank(shape) ||
    interruptsParagraph(lines, line) ||
    listMarker(lines.text, shape) !== undefined
  );
}
