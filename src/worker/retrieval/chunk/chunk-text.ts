import type { Block } from "./block.ts";
import { codePointOffsets } from "./code-point-offsets.ts";
import { cutJson } from "./cut-json.ts";
import type { CutSettings, Span } from "./cut-span.ts";
import { type Lines, splitLines } from "./lines.ts";
import { packSection, trimSpan } from "./pack-section.ts";
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
  const { title, spans } = cutText(lines, format, { firstLine, settings });
  const toCodePoints = codePointOffsets(text);
  const chunks = spans
    .map((span) => ({ ...trimSpan(text, span), headingPath: span.headingPath }))
    .filter(({ start, end }) => end > start)
    .map(({ start, end, headingPath }) => ({
      headingPath,
      startChar: toCodePoints(start),
      endChar: toCodePoints(end),
      lineStart: lines.at(start) + 1,
      lineEnd: lines.at(end - 1) + 1,
      text: text.slice(start, end),
    }));
  return { title, chunks };
}

type TitledSpans = {
  readonly title: string | null;
  readonly spans: readonly (Span & { readonly headingPath: string | null })[];
};

type CutOptions = { readonly firstLine: number; readonly settings: ChunkSettings };

function cutText(lines: Lines, format: TextFormat, options: CutOptions): TitledSpans {
  switch (format) {
    case "markdown":
      return packBlocks(lines, scanMarkdown(lines, options.firstLine), options.settings);
    case "plain":
      return packBlocks(lines, scanParagraphs(lines, options.firstLine), options.settings);
    case "json": {
      const start = lines.start(options.firstLine);
      return { title: null, spans: cutJson(lines.text, start, options.settings) };
    }
  }
}

function packBlocks(lines: Lines, blocks: readonly Block[], settings: ChunkSettings): TitledSpans {
  const spans = cutSections(blocks).flatMap((section) =>
    packSection(lines, section, settings).map((span) => ({
      ...span,
      headingPath: section.headingPath,
    })),
  );
  return { title: firstTitle(blocks), spans };
}

function firstTitle(blocks: readonly Block[]): string | null {
  const heading = blocks.find((block) => block.heading?.level === 1)?.heading;
  return heading === undefined || heading.title === "" ? null : heading.title;
}
