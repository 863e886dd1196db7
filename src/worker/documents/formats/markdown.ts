import { parseFrontmatter } from "../frontmatter.ts";
import { splitLines } from "../lines.ts";
import type { Block, Lines } from "../lines.ts";
import type { Format } from "./format.ts";
import {
  atxHeading,
  closesFence,
  fencedCode,
  htmlBlock,
  isBareMarker,
  isBlank,
  isThematicBreak,
  listMarker,
  openingFence,
  opensHtml,
  shapeOf,
  underlineLevel,
} from "./markdown-lines.ts";
import type { Fence, LineShape } from "./markdown-lines.ts";
import { tableCells } from "../../text/table-cells.ts";
import { UTF8 } from "./utf8.ts";

export const MARKDOWN: Format = {
  name: "markdown",
  extensions: [".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd"],
  extractor: UTF8,
  isOf: () => true,
  parseFrontmatter,
  cut: (lines, firstLine) => ({ kind: "blocks", blocks: scanMarkdown(lines, firstLine) }),
};

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

/** Code by four columns of indent, with the blank lines inside it. */
function indentedCode(lines: Lines, at: number): Block | undefined {
  if (shapeOf(lines, at).indent < 4) return undefined;
  let lastLine = at;
  for (let line = at + 1; line < lines.count; line += 1) {
    const shape = shapeOf(lines, line);
    if (isBlank(shape)) continue;
    if (shape.indent < 4) break;
    lastLine = line;
  }
  return { firstLine: at, lastLine, cut: "lines" };
}

/** A list with everything that is indented into its items, headings and code included. */
export function list(lines: Lines, at: number): Block | undefined {
  const opening = markerAt(lines, shapeOf(lines, at));
  if (opening === undefined) return undefined;
  const follow = trackParagraph();
  let isOpen = follow(lineOf(lines, at));
  let content = opening;
  let lastLine = at;
  for (let line = at + 1; line < lines.count;) {
    const shape = shapeOf(lines, line);
    if (isBlank(shape)) {
      if (isEmptyItem(lines, line - 1, content)) content = Number.POSITIVE_INFINITY;
      isOpen = follow("");
      line += 1;
      continue;
    }
    const isInside = shape.indent >= content;
    const next = isInside ? undefined : markerAt(lines, shape);
    if (next !== undefined) content = next;
    else if (!isInside && (!isOpen || interruptsParagraph(lines, line))) break;
    const code = isInside ? fencedCode(lines, line, content) : undefined;
    lastLine = code?.lastLine ?? line;
    if (code !== undefined) isOpen = follow("");
    else if (isInside || next !== undefined) isOpen = follow(lineOf(lines, line, content));
    line = lastLine + 1;
  }
  return { firstLine: at, lastLine, cut: "lines" };
}

function markerAt(lines: Lines, shape: LineShape): number | undefined {
  return isThematicBreak(lines.text, shape) ? undefined : listMarker(lines.text, shape);
}

/** An item that begins with two blank lines holds nothing. An item of a list within this one stands at its content or behind. */
function isEmptyItem(lines: Lines, line: number, content: number): boolean {
  const shape = shapeOf(lines, line);
  return shape.indent < content && isBareMarker(lines.text, shape);
}

/** A line without the columns that belong to the item around it. */
function lineOf(lines: Lines, line: number, columns = 0): string {
  const { indent, first, end } = shapeOf(lines, line);
  return " ".repeat(Math.max(0, indent - columns)) + lines.text.slice(first, end);
}

/** Lines of prose; a setext heading when a line of `=` or `-` underlines them; or a table. */
export function paragraph(lines: Lines, at: number): Block {
  if (opensTable(lines, at)) return { firstLine: at, lastLine: lastRow(lines, at), cut: "lines" };
  let line = at;
  while (line + 1 < lines.count) {
    const level = underlineLevel(lines, line + 1);
    if (level !== undefined) return setextHeading(lines, at, line + 1, level);
    if (endsParagraph(lines, line + 1)) break;
    line += 1;
  }
  return { firstLine: at, lastLine: line, cut: "sentences" };
}

const endsParagraph = (lines: Lines, line: number): boolean =>
  isBlank(shapeOf(lines, line)) || interruptsParagraph(lines, line) || opensTable(lines, line);

function setextHeading(lines: Lines, at: number, underline: number, level: 1 | 2): Block {
  const title = lines.text.slice(lines.start(at), lines.end(underline - 1));
  return {
    firstLine: at,
    lastLine: underline,
    cut: "sentences",
    heading: { level, title: title.trim().replace(/\s+/g, " ") },
  };
}

/** Enough of a line to see how it begins, and more containers in one line than anybody writes. */
const CONTAINER_CHARS = 200;
const MOST_CONTAINERS = 16;

/**
 * Follows the lines of a quote or a list and tells whether a paragraph is open after each: only that one goes on in a
 * line outside of its container.
 */
function trackParagraph(): (line: string) => boolean {
  let isOpen = false;
  let fence: Fence | undefined;
  let isHtml = false;
  const follow = (lines: Lines, shape: LineShape): boolean => {
    if (fence !== undefined) {
      if (closesFence(lines.text, shape, fence)) fence = undefined;
      return false;
    }
    if (isBlank(shape)) return (isHtml = false);
    if (isHtml) return false;
    if (isOpen && /^(?:=+|-+)\s*$/.test(lines.text.slice(shape.first, shape.end))) return false;
    if (!isOpen && shape.indent > 3) return false;
    fence = openingFence(lines.text, shape);
    isHtml = lines.text.charAt(shape.first) === "<" && opensHtml(lines.text.slice(shape.first));
    return (
      fence === undefined &&
      !isHtml &&
      atxHeading(lines, 0) === undefined &&
      !isThematicBreak(lines.text, shape)
    );
  };
  return (line) => {
    const { lines, hasMarker } = withoutContainers(line.slice(0, CONTAINER_CHARS));
    if (hasMarker) {
      isOpen = false;
      isHtml = false;
    }
    isOpen = follow(lines, shapeOf(lines, 0));
    return isOpen;
  };
}

/** The content of a line behind the marks of quotes and list items; a new item ends what was open. */
function withoutContainers(line: string): { readonly lines: Lines; readonly hasMarker: boolean } {
  let rest = line;
  let hasMarker = false;
  for (let depth = 0; depth < MOST_CONTAINERS; depth += 1) {
    const lines = oneLine(rest);
    const shape = shapeOf(lines, 0);
    if (shape.indent > 3 || isThematicBreak(rest, shape)) break;
    if (rest.charAt(shape.first) === ">") rest = rest.slice(shape.first + 1).replace(/^ /, "");
    else {
      const marker = /^(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)/.exec(rest.slice(shape.first))?.[0];
      if (marker === undefined || listMarker(rest, shape) === undefined) break;
      hasMarker = true;
      rest = rest.slice(shape.first + marker.length).replace(/^[ \t]/, "");
    }
  }
  return { lines: oneLine(rest), hasMarker };
}

/** An empty text has no line. */
const oneLine = (text: string): Lines => splitLines(text === "" ? " " : text);

/** What every starter of a block begins with; most lines of prose are told from it by one look. */
const STARTERS = new Set("#`~><*-_+0123456789");
const LIST_ITEM = /^(?:[-+*]|1[.)])[ \t]+\S/;
const HEAD_CHARS = 64;

/** Whether a line starts a block of its own right after a line of a paragraph. */
function interruptsParagraph(lines: Lines, at: number): boolean {
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

/** A block quote. What looks like a heading inside it gives the document no structure. */
export function quote(lines: Lines, at: number): Block | undefined {
  if (!isQuoted(lines, at)) return undefined;
  const follow = trackParagraph();
  let isOpen = false;
  let line = at;
  for (; line < lines.count; line += 1) {
    if (isQuoted(lines, line)) isOpen = follow(contentOf(lines, line));
    else if (!isOpen || endsQuote(lines, line)) break;
  }
  return { firstLine: at, lastLine: line - 1, cut: "lines" };
}

const contentOf = (lines: Lines, line: number): string =>
  lines.text.slice(shapeOf(lines, line).first + 1, lines.end(line)).replace(/^ /, "");

function isQuoted(lines: Lines, line: number): boolean {
  const { indent, first } = shapeOf(lines, line);
  return indent <= 3 && lines.text.charAt(first) === ">";
}

/** Any list ends it: what can't interrupt a paragraph can only not do so within the same container. */
function endsQuote(lines: Lines, line: number): boolean {
  const shape = shapeOf(lines, line);
  return (
    isBlank(shape) ||
    interruptsParagraph(lines, line) ||
    listMarker(lines.text, shape) !== undefined
  );
}

/** More columns are no table that somebody reads. */
const ROW_CHARS = 5_000;

/** Whether a line is the head of a table of GitHub's Markdown: the row below it is of dashes, and as many cells. */
function opensTable(lines: Lines, at: number): boolean {
  if (at + 1 >= lines.count) return false;
  const [head, delimiter] = [rowText(lines, at), rowText(lines, at + 1)];
  return (
    head.includes("|") &&
    shapeOf(lines, at + 1).indent <= 3 &&
    /^[|:-]/.test(delimiter) &&
    !/^-\s/.test(delimiter) &&
    /^[\s|:-]+$/.test(delimiter) &&
    tableCells(delimiter).every((cell) => /^\s*:?-+:?\s*$/.test(cell)) &&
    tableCells(head).length === tableCells(delimiter).length
  );
}

/** The last row of a table with that head. */
function lastRow(lines: Lines, head: number): number {
  let line = head + 1;
  while (line + 1 < lines.count && continues(lines, line + 1)) line += 1;
  return line;
}

function continues(lines: Lines, line: number): boolean {
  const shape = shapeOf(lines, line);
  return (
    !isBlank(shape) &&
    shape.indent <= 3 &&
    !interruptsParagraph(lines, line) &&
    listMarker(lines.text, shape) === undefined
  );
}

function rowText(lines: Lines, line: number): string {
  const { first, end } = shapeOf(lines, line);
  return lines.text.slice(first, Math.min(end, first + ROW_CHARS)).trimEnd();
}

const MOST_LABEL_CHARS = 999;
/** What a title may not hold behind each mark that opens one; the last closes it. */
const CLOSERS = new Map([
  ['"', '"'],
  ["'", "'"],
  ["(", "()"],
]);

/**
 * A link reference definition by CommonMark 0.31, section 4.7: `[label]: target "title"`, where each part may begin on
 * the next line, and label and title may go on there.
 * @param text of which no line is blank
 * @returns the offset of the line behind the definition; undefined where there is none
 */
function linkDefinitionEnd(text: string, from: number): number | undefined {
  const target = afterLabel(text, from);
  const targetEnd = target === undefined ? undefined : afterTarget(text, skipBlank(text, target));
  if (targetEnd === undefined) return undefined;
  const titleEnd = afterTitle(text, targetEnd);
  return (
    (titleEnd === undefined ? undefined : afterLine(text, titleEnd)) ?? afterLine(text, targetEnd)
  );
}

function afterLabel(text: string, from: number): number | undefined {
  const first = skipBlank(text, from);
  if (text.charAt(first) !== "[") return undefined;
  const end = findMark(text, first + 1, "[]");
  const isLabel =
    text.startsWith("]:", end) &&
    end - first <= MOST_LABEL_CHARS + 1 &&
    skipBlank(text, first + 1) < end;
  return isLabel ? end + 2 : undefined;
}

function afterTarget(text: string, from: number): number | undefined {
  if (text.charAt(from) === "<") {
    const end = findMark(text, from + 1, "<>\r\n");
    return text.charAt(end) === ">" ? end + 1 : undefined;
  }
  let depth = 0;
  let at = from;
  for (; at < text.length && !isBlankAt(text, at); at += 1) {
    const mark = text.charAt(at);
    if (mark === "\\") at += isBlankAt(text, at + 1) ? 0 : 1;
    else if (mark === "(") depth += 1;
    else if (mark === ")" && (depth -= 1) < 0) return undefined;
  }
  return at > from && depth === 0 ? Math.min(at, text.length) : undefined;
}

function afterTitle(text: string, targetEnd: number): number | undefined {
  const first = skipBlank(text, targetEnd);
  const marks = first === targetEnd ? undefined : CLOSERS.get(text.charAt(first));
  if (marks === undefined) return undefined;
  const end = findMark(text, first + 1, marks);
  return text.charAt(end) === marks.slice(-1) ? end + 1 : undefined;
}

/** The offset of the next line, when nothing but blanks is left of this one. */
function afterLine(text: string, from: number): number | undefined {
  let at = from;
  while (text.charAt(at) === " " || text.charAt(at) === "\t") at += 1;
  if (text.startsWith("\r\n", at)) return at + 2;
  return at === text.length || text.charAt(at) === "\n" || text.charAt(at) === "\r"
    ? Math.min(at + 1, text.length)
    : undefined;
}

/** The first of the marks that no backslash stands before; the end of the text when there is none. */
function findMark(text: string, from: number, marks: string): number {
  let at = from;
  while (at < text.length && !marks.includes(text.charAt(at))) {
    at += text.charAt(at) === "\\" ? 2 : 1;
  }
  return Math.min(at, text.length);
}

function skipBlank(text: string, from: number): number {
  let at = from;
  while (isBlankAt(text, at)) at += 1;
  return at;
}

/** Blanks, line ends and control characters, none of which a bare target holds. */
const isBlankAt = (text: string, at: number): boolean => text.charCodeAt(at) <= 32;

/** Link reference definitions that follow each other: they are no text, and so none that a line can underline. */
function linkDefinitions(lines: Lines, at: number): Block | undefined {
  const { first } = shapeOf(lines, at);
  if (lines.text.charAt(first) !== "[" || opensTable(lines, at)) return undefined;
  const text = lines.text.slice(first, lines.end(lastLineOf(lines, at)));
  const end = definitionsEnd(text);
  return end === 0
    ? undefined
    : { firstLine: at, lastLine: lines.at(first + end - 1), cut: "lines" };
}

function definitionsEnd(text: string): number {
  let end = 0;
  for (let next: number | undefined = 0; next !== undefined;) {
    end = next;
    next = end < text.length ? linkDefinitionEnd(text, end) : undefined;
  }
  return end;
}

/** The last line that the paragraph could have which begins here. */
function lastLineOf(lines: Lines, at: number): number {
  let line = at;
  while (line + 1 < lines.count && !ends(lines, line + 1)) line += 1;
  return line;
}

const ends = (lines: Lines, line: number): boolean =>
  isBlank(shapeOf(lines, line)) ||
  underlineLevel(lines, line) !== undefined ||
  interruptsParagraph(lines, line) ||
  opensTable(lines, line);
