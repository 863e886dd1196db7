import { isBlankBetween, runLength, shapeOf } from "./line-shape.ts";
import type { Lines } from "./lines.ts";

/** The level of the setext heading that a line would make of a paragraph before it. */
export function underlineLevel(lines: Lines, line: number): 1 | 2 | undefined {
  const { indent, first, end } = shapeOf(lines, line);
  const mark = lines.text.charAt(first);
  if (indent > 3 || (mark !== "=" && mark !== "-")) return undefined;
  if (!isBlankBetween(lines.text, first + runLength(lines.text, first, end), end)) return undefined;
  return mark === "=" ? 1 : 2;
}
