import type { Block } from "./block.ts";
import { cutSpan, type CutSettings, type Span } from "./cut-span.ts";
import type { Lines } from "./lines.ts";
import type { Section } from "./section.ts";

/** Packs the blocks of a section into spans of at most `maxChars`; only a block longer than that is cut. */
export function packSection(lines: Lines, section: Section, settings: CutSettings): Span[] {
  const packed: Span[] = [];
  for (const piece of section.blocks.flatMap((block) => piecesOf(lines, block, settings))) {
    const last = packed.at(-1);
    const fits = last !== undefined && piece.end - last.start <= settings.maxChars;
    if (fits) packed[packed.length - 1] = { start: last.start, end: piece.end };
    else packed.push(piece);
  }
  return packed;
}

function piecesOf(lines: Lines, block: Block, settings: CutSettings): Span[] {
  const span = { start: lines.start(block.firstLine), end: lines.end(block.lastLine) };
  return span.end - span.start <= settings.maxChars
    ? [span]
    : cutSpan(lines.text, span, block.cut, settings);
}

/** Drops blank lines around a span; the indent of the first line stays, because it means something. */
export function trimSpan(text: string, { start, end }: Span): Span {
  let last = end;
  while (last > start && /\s/.test(text.charAt(last - 1))) last -= 1;
  let first = start;
  for (let at = start; at < last && /\s/.test(text.charAt(at)); at += 1) {
    if (/[\r\n]/.test(text.charAt(at))) first = at + 1;
  }
  return { start: first, end: last };
}
