import type { Block } from "./block.ts";
import { interruptsParagraph } from "./interrupts-paragraph.ts";
import { isBlank, shapeOf } from "./line-shape.ts";
import type { Lines } from "./lines.ts";

/** A block quote. What looks like a heading inside it gives the document no structure. */
export function quote(lines: Lines, at: number): Block | undefined {
  if (!isQuoted(lines, at)) return undefined;
  let lastLine = at;
  while (lastLine + 1 < lines.count && continues(lines, lastLine + 1)) lastLine += 1;
  return { firstLine: at, lastLine, cut: "lines" };
}

function isQuoted(lines: Lines, line: number): boolean {
  const { indent, first } = shapeOf(lines, line);
  return indent <= 3 && lines.text.charAt(first) === ">";
}

const continues = (lines: Lines, line: number): boolean =>
  isQuoted(lines, line) || (!isBlank(shapeOf(lines, line)) && !interruptsParagraph(lines, line));
