import type { Block } from "./block.ts";
import { isBlank, shapeOf } from "./line-shape.ts";
import type { Lines } from "./lines.ts";

/** The paragraphs of a plain text: lines between blank lines. */
export function scanParagraphs(lines: Lines, firstLine: number): Block[] {
  const blocks: Block[] = [];
  let open: number | undefined;
  for (let line = firstLine; line <= lines.count; line += 1) {
    const isOver = line === lines.count || isBlank(shapeOf(lines, line));
    if (!isOver) open ??= line;
    else if (open !== undefined) {
      blocks.push({ firstLine: open, lastLine: line - 1, cut: "sentences" });
      open = undefined;
    }
  }
  return blocks;
}
