import { atxHeading } from "./atx-heading.ts";
import type { Block } from "./block.ts";
import { fencedCode } from "./fenced-code.ts";
import { htmlBlock } from "./html-block.ts";
import { indentedCode } from "./indented-code.ts";
import { isBlank, shapeOf } from "./line-shape.ts";
import type { Lines } from "./lines.ts";
import { linkDefinitions } from "./link-definitions.ts";
import { list } from "./list.ts";
import { paragraph } from "./paragraph.ts";
import { quote } from "./quote.ts";
import { isThematicBreak } from "./thematic-break.ts";

/** In order: the first that knows the line takes it. A paragraph is what nothing else is. */
const RECOGNISERS = [
  indentedCode,
  fencedCode,
  atxHeading,
  htmlBlock,
  quote,
  thematicBreak,
  list,
  linkDefinitions,
] as const;

/** The blocks of a Markdown document by the rules of CommonMark 0.31 that decide where blocks and headings are. */
export function scanMarkdown(lines: Lines, firstLine: number): Block[] {
  const blocks: Block[] = [];
  for (let line = firstLine; line < lines.count;) {
    if (isBlank(shapeOf(lines, line))) {
      line += 1;
      continue;
    }
    const block = recognise(lines, line);
    blocks.push(block);
    line = block.lastLine + 1;
  }
  return blocks;
}

function recognise(lines: Lines, line: number): Block {
  for (const recogniser of RECOGNISERS) {
    const block = recogniser(lines, line);
    if (block !== undefined) return block;
  }
  return paragraph(lines, line);
}

function thematicBreak(lines: Lines, at: number): Block | undefined {
  if (!isThematicBreak(lines.text, shapeOf(lines, at))) return undefined;
  return { firstLine: at, lastLine: at, cut: "lines" };
}
