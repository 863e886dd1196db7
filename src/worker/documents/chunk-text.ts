import type { Locator } from "../../shared/job/locator.ts";
import { cutSpan, shortenTitle } from "./cut-span.ts";
import type { CutSettings, Span } from "./cut-span.ts";
import type { Cut, Format, Piece } from "./formats/format.ts";
import { codePointOffsets, splitLines } from "./lines.ts";
import type { Block, Lines } from "./lines.ts";
import { locatePassage } from "./places.ts";
import type { Places } from "./places.ts";

/** An exact slice of a text. Offsets count code points from 0; lines count from 1, the last one included. */
export type Chunk = {
  readonly headingPath: string | null;
  readonly locator: Locator | null;
  readonly startChar: number;
  readonly endChar: number;
  readonly lineStart: number;
  readonly lineEnd: number;
  readonly text: string;
};

/** `maxChars` and `overlap` count UTF-16 units, so that a chunk has at most `maxChars` code points. */
export type ChunkSettings = CutSettings;

/** The chunks of a text in order, and the title of its first level-1 heading. */
type ChunkedText = { readonly title: string | null; readonly chunks: readonly Chunk[] };

/** Decides the cuts: the format, the line after the frontmatter (from 0), and where parts of the text stand in the file. */
type CutBy = {
  readonly format: Pick<Format, "cut">;
  readonly firstLine: number;
  readonly places: Places;
};

/** Cuts a text into chunks, from the line after its frontmatter on. */
export function chunkText(
  text: string,
  { format, firstLine, places }: CutBy,
  settings: ChunkSettings,
): ChunkedText {
  const lines = splitLines(text);
  const { title, pieces } = cutText(lines, format.cut(lines, firstLine, settings), settings);
  const toCodePoints = codePointOffsets(text);
  const chunks = pieces
    .map((piece) => ({ ...piece, ...trimSpan(text, piece) }))
    .filter(({ start, end }) => end > start)
    .map(({ start, end, headingPath, locator }) => ({
      headingPath,
      locator: locator ?? locatePassage(places, lines, { start, end }),
      startChar: toCodePoints(start),
      endChar: toCodePoints(end),
      lineStart: lines.at(start) + 1,
      lineEnd: lines.at(end - 1) + 1,
      text: text.slice(start, end),
    }));
  return { title, chunks };
}

type TitledPieces = { readonly title: string | null; readonly pieces: readonly Piece[] };

const cutText = (lines: Lines, cut: Cut, settings: ChunkSettings): TitledPieces =>
  cut.kind === "pieces"
    ? { title: null, pieces: cut.pieces }
    : { title: firstTitle(cut.blocks), pieces: packBlocks(lines, cut.blocks, settings) };

const packBlocks = (lines: Lines, blocks: readonly Block[], settings: ChunkSettings): Piece[] =>
  cutSections(blocks).flatMap((section) =>
    packSection(lines, section, settings).map((span) => ({
      ...span,
      headingPath: section.headingPath,
    })),
  );

function firstTitle(blocks: readonly Block[]): string | null {
  const heading = blocks.find((block) => block.heading?.level === 1)?.heading;
  return heading === undefined || heading.title === "" ? null : heading.title;
}

/** Packs the blocks of a section into spans of at most `maxChars`; it cuts only a block that is longer. */
function packSection(lines: Lines, section: Section, settings: CutSettings): Span[] {
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

/** Drops blank lines around a span; keeps the indent of the first line, which carries meaning in code and lists. */
function trimSpan(text: string, { start, end }: Span): Span {
  let last = end;
  while (last > start && /\s/.test(text.charAt(last - 1))) last -= 1;
  let first = start;
  for (let at = start; at < last && /\s/.test(text.charAt(at)); at += 1) {
    if (/[\r\n]/.test(text.charAt(at))) first = at + 1;
  }
  return { start: first, end: last };
}

/** Consecutive blocks under the same headings. The headings that open the section are part of its first block. */
type Section = { readonly headingPath: string | null; readonly blocks: readonly Block[] };

type Heading = NonNullable<Block["heading"]>;

/**
 * Cuts a document at its headings. A heading belongs to the text that follows it. A heading without text of its own joins
 * the deeper heading after it; without such a heading it stands alone.
 */
export function cutSections(blocks: readonly Block[]): Section[] {
  const sections: Section[] = [];
  let path: Heading[] = [];
  let pending: Block[] = [];
  let current: Block[] = [];

  const finish = () => {
    const opening = mergeBlocks(pending);
    const all = opening === undefined ? current : prepend(opening, current);
    if (all.length > 0) sections.push({ headingPath: joinPath(path), blocks: all });
    pending = [];
    current = [];
  };

  for (const block of blocks) {
    if (block.opensSection === true) finish();
    if (block.heading === undefined) {
      current.push(block);
      continue;
    }
    const { level } = block.heading;
    const isCarried = current.length === 0 && level > (pending.at(-1)?.heading?.level ?? 6);
    if (!isCarried) finish();
    path = [...path.filter((outer) => outer.level < level), block.heading];
    pending.push(block);
  }
  finish();
  return sections;
}

/** Makes the opening headings part of the first block, so that no cut separates a heading from its text. */
function prepend(opening: Block, blocks: readonly Block[]): Block[] {
  const [first, ...rest] = blocks;
  if (first === undefined) return [opening];
  return [{ ...first, firstLine: opening.firstLine }, ...rest];
}

function mergeBlocks(blocks: readonly Block[]): Block | undefined {
  const [first] = blocks;
  const last = blocks.at(-1);
  if (first === undefined || last === undefined) return undefined;
  return { firstLine: first.firstLine, lastLine: last.lastLine, cut: first.cut };
}

function joinPath(path: readonly Heading[]): string | null {
  const titles = path.map(({ title }) => shortenTitle(title)).filter((title) => title !== "");
  return titles.length === 0 ? null : titles.join(" > ");
}
