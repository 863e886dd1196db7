import type { Block } from "./block.ts";
import type { Lines } from "./lines.ts";

/**
 * The entries of the outermost object or array, each with all lines up to the next one. A document on one line is
 * one block.
 */
export function scanJson(lines: Lines, firstLine: number): Block[] {
  const blocks: Block[] = [];
  const depthAfter = trackDepth(lines.text);
  let depth = 0;
  let open = firstLine;
  for (let line = firstLine; line < lines.count; line += 1) {
    if (depth <= 1 && line > open) {
      blocks.push({ firstLine: open, lastLine: line - 1, cut: "lines" });
      open = line;
    }
    depth = depthAfter(lines.start(line), lines.end(line));
  }
  if (open < lines.count) {
    blocks.push({ firstLine: open, lastLine: lines.count - 1, cut: "lines" });
  }
  return blocks;
}

/** Follows brackets outside strings through consecutive spans of a text. */
function trackDepth(text: string): (from: number, end: number) => number {
  let depth = 0;
  let isInString = false;
  return (from, end) => {
    for (let at = from; at < end; at += 1) {
      const character = text.charAt(at);
      if (isInString && character === "\\") at += 1;
      else if (character === '"') isInString = !isInString;
      else if (!isInString && (character === "{" || character === "[")) depth += 1;
      else if (!isInString && (character === "}" || character === "]")) depth -= 1;
    }
    return depth;
  };
}
