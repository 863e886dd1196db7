import type { Block } from "./block.ts";
import { codePointOffsets } from "./code-point-offsets.ts";
import type { CutSettings } from "./cut-span.ts";
import { type Lines, splitLines } from "./lines.ts";
import { packSection } from "./pack-section.ts";
import { scanJson } from "./scan-json.ts";
import { scanMarkdown } from "./scan-markdown.ts";
import { scanParagraphs } from "./scan-paragraphs.ts";
import { cutSections } from "./section.ts";

/** An exact slice of a text. Offsets count code points from 0; lines count from 1, the last one included. */
export type Chunk = {
  readonly headingPath: string | null;
  readonly startChar: number;
  readonly endChar: number;
  readonly lineStart: number;
  readonly lineEnd: number;
  readonly text: string;
};

/** `maxChars` and `overlap` count UTF-16 units, so that a chunk has at most `maxChars` code points. */
export type ChunkSettings = CutSettings;

export type TextFormat = "markdown" | "json" | "plain";

const SCANNERS = {
  markdown: scanMarkdown,
  json: scanJson,
  plain: scanParagraphs,
} as const satisfies Record<TextFormat, (lines: Lines, firstLine: number) => Block[]>;

/** The chunks of a text in order, and the title of its first level-1 heading. */
export type ChunkedText = { readonly title: string | null; readonly chunks: readonly Chunk[] };

/** Cuts a text into chunks, from the line after its frontmatter on (`firstLine` counts from 0). */
export function chunkText(
  text: string,
  format: TextFormat,
  firstLine: number,
  settings: ChunkSettings,
): ChunkedText {
  const lines = splitLines(text);
  const blocks = SCANNERS[format](lines, firstLine);
  const toCodePoints = codePointOffsets(text);
  const chunks = cutSections(blocks).flatMap((section) =>
    packSection(lines, section, settings).map(({ start, end }) => ({
      headingPath: section.headingPath,
      startChar: toCodePoints(start),
      endChar: toCodePoints(end),
      lineStart: lines.at(start) + 1,
      lineEnd: lines.at(end - 1) + 1,
      text: text.slice(start, end),
    })),
  );
  return { title: firstTitle(blocks), chunks };
}

function firstTitle(blocks: readonly Block[]): string | null {
  const heading = blocks.find((block) => block.heading?.level === 1)?.heading;
  return heading === undefined || heading.title === "" ? null : heading.title;
}
