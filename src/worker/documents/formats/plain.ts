import { NO_FRONTMATTER } from "../frontmatter.ts";
import type { Block, Lines } from "../lines.ts";
import type { Format } from "./format.ts";
import { isBlank, shapeOf } from "./markdown-lines.ts";
import { UTF8 } from "./utf8.ts";

/** Any text: paragraphs between blank lines. */
export const PLAIN: Format = {
  name: "plain",
  extensions: [],
  extractor: UTF8,
  isOf: () => true,
  parseFrontmatter: () => NO_FRONTMATTER,
  cut: (lines, firstLine) => ({ kind: "blocks", blocks: scanParagraphs(lines, firstLine) }),
};

/** The paragraphs of a plain text: lines between blank lines. */
function scanParagraphs(lines: Lines, firstLine: number): Block[] {
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
