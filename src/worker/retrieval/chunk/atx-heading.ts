import type { Block } from "./block.ts";
import { isBlankBetween, runLength, shapeOf } from "./line-shape.ts";
import type { Lines } from "./lines.ts";

/** `# Title`, up to six of them, with or without closing ones. */
export function atxHeading(lines: Lines, at: number): Block | undefined {
  const { text } = lines;
  const { indent, first, end } = shapeOf(lines, at);
  if (indent > 3 || text.charAt(first) !== "#") return undefined;
  const level = runLength(text, first, end);
  const after = first + level;
  if (level > 6 || (after < end && !isBlankBetween(text, after, after + 1))) return undefined;
  return {
    firstLine: at,
    lastLine: at,
    cut: "sentences",
    heading: { level, title: dropClosingMarks(text.slice(after, end).trim()) },
  };
}

function dropClosingMarks(title: string): string {
  let end = title.length;
  while (end > 0 && title.charAt(end - 1) === "#") end -= 1;
  if (end === title.length) return title;
  if (end === 0) return "";
  return /[ \t]/.test(title.charAt(end - 1)) ? title.slice(0, end).trimEnd() : title;
}
