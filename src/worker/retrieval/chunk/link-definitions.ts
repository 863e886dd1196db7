import type { Block } from "./block.ts";
import { interruptsParagraph } from "./interrupts-paragraph.ts";
import { isBlank, shapeOf } from "./line-shape.ts";
import type { Lines } from "./lines.ts";
import { linkDefinitionEnd } from "./link-definition.ts";
import { opensTable } from "./table.ts";
import { underlineLevel } from "./underline-level.ts";

/** Link reference definitions that follow each other: they are no text, and so none that a line can underline. */
export function linkDefinitions(lines: Lines, at: number): Block | undefined {
  const { first } = shapeOf(lines, at);
  if (lines.text.charAt(first) !== "[" || opensTable(lines, at)) return undefined;
  const text = lines.text.slice(first, lines.end(lastLineOf(lines, at)));
  const end = definitionsEnd(text);
  return end === 0
    ? undefined
    : { firstLine: at, lastLine: lines.at(first + end - 1), cut: "lines" };
}

function definitionsEnd(text: string): number {
  let end = 0;
  for (let next: number | undefined = 0; next !== undefined;) {
    end = next;
    next = end < text.length ? linkDefinitionEnd(text, end) : undefined;
  }
  return end;
}

/** The last line that the paragraph could have which begins here. */
function lastLineOf(lines: Lines, at: number): number {
  let line = at;
  while (line + 1 < lines.count && !ends(lines, line + 1)) line += 1;
  return line;
}

const ends = (lines: Lines, line: number): boolean =>
  isBlank(shapeOf(lines, line)) ||
  underlineLevel(lines, line) !== undefined ||
  interruptsParagraph(lines, line) ||
  opensTable(lines, line);
