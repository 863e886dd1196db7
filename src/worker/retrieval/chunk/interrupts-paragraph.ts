import { atxHeading } from "./atx-heading.ts";
import { openingFence } from "./fenced-code.ts";
import { opensHtml } from "./html-block.ts";
import { type LineShape, shapeOf } from "./line-shape.ts";
import type { Lines } from "./lines.ts";
import { isThematicBreak } from "./thematic-break.ts";

/** What every starter of a block begins with; most lines of prose are told from it by one look. */
const STARTERS = new Set("#`~><*-_+0123456789");
const LIST_ITEM = /^(?:[-+*]|1[.)])[ \t]+\S/;
const HEAD_CHARS = 64;

/** Whether a line starts a block of its own right after a line of a paragraph. */
export function interruptsParagraph(lines: Lines, at: number): boolean {
  const { text } = lines;
  const shape = shapeOf(lines, at);
  if (shape.indent > 3 || !STARTERS.has(text.charAt(shape.first))) return false;
  return (
    text.charAt(shape.first) === ">" ||
    atxHeading(lines, at) !== undefined ||
    openingFence(text, shape) !== undefined ||
    isThematicBreak(text, shape) ||
    opensListOrHtml(text, shape)
  );
}

function opensListOrHtml(text: string, { first, end }: LineShape): boolean {
  const head = text.slice(first, Math.min(end, first + HEAD_CHARS));
  return LIST_ITEM.test(head) || opensHtml(head);
}
