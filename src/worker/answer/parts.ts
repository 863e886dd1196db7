import { FENCE_CHARS } from "../evidence/fence.ts";
import type { PartRecord } from "../../shared/job/run-result.ts";
import { groupToFit } from "../../shared/group-by.ts";
import type { Places } from "../documents/places.ts";
import type { CitableBlock } from "../evidence/number.ts";
import type { Reading } from "../evidence/types.ts";
import { cleanText, countCodePoints } from "../text/clean-text.ts";

/** A node of a tree over one file: a stretch of the file, or a model's reply about neighbouring nodes. */
export type PartNode = Omit<TextPart, "text"> & {
  /** Null for text of the file itself, 0 for a reply about such text, 1 for a reply about those, and so on. */
  readonly level: number | null;
  /** The text that a prompt shows for the node; null where the model found nothing in it. */
  readonly words: string | null;
  /** The text of the file that the node covers. */
  readonly source: string;
};

/** The same pieces twice, under the same numbers: as a prompt shows them, and with the text of the file. */
export type PartEvidence = {
  readonly shown: readonly CitableBlock[];
  readonly sources: readonly CitableBlock[];
};

/** A text up to this length is not cut again, however dense it is. */
const FEWEST_CHARS = 500;

/** Cuts a file into stretches of at most `room` UTF-16 units. */
export const leavesOf = ({ text }: Pick<Reading, "text">, room: number): PartNode[] =>
  splitIntoParts(text, room).map(leafOf);

const leafOf = ({ text, ...span }: TextPart): PartNode => ({
  ...span,
  level: null,
  words: text,
  source: text,
});

/** Divides a group into about two halves; null where it can't be cut further. */
export function halve(group: readonly PartNode[]): (readonly PartNode[])[] | null {
  const middle = Math.ceil(group.length / 2);
  if (group.length > 1) return [group.slice(0, middle), group.slice(middle)];
  const [node] = group;
  if (node?.level !== null || node.source.length <= FEWEST_CHARS) return null;
  const half = Math.ceil(node.source.length / 2);
  return splitIntoParts(node.source, half, node).map((part) => [leafOf(part)]);
}

/** Groups neighbours, as many as fit one prompt. */
export const groupParts = (nodes: readonly PartNode[], room: number): PartNode[][] =>
  groupToFit(nodes, room, (node) => promptLength([node]));

/** UTF-16 units that nodes take in a prompt. */
export const promptLength = (nodes: readonly PartNode[]): number =>
  nodes.reduce((total, { words }) => total + (words === null ? 0 : words.length + FENCE_CHARS), 0);

/** Makes the node that replaces a group, and covers the span of the group. */
export function merge(group: readonly PartNode[], words: string | null): PartNode {
  const [first, last] = [group[0], group.at(-1)];
  if (first === undefined || last === undefined) throw new RangeError("a group has a node or more");
  return {
    startChar: first.startChar,
    endChar: last.endChar,
    lineStart: first.lineStart,
    lineEnd: last.lineEnd,
    level: first.level === null ? 0 : first.level + 1,
    words,
    source: group.map(({ source }) => source).join(""),
  };
}

/** The facts about a file that its parts share. */
export type AboutFile = Pick<Reading, "path" | "sha256"> & {
  readonly title: string | null;
  /** Code points of the whole file. */
  readonly chars: number;
  /** The places in the file of a part's text, which begins at the code point `startChar`; left out where lines suffice. */
  readonly placesOf?: (startChar: number, source: string) => Places;
};

/** The nodes that have words, numbered from 1. */
export function evidenceOf(
  nodes: readonly PartNode[],
  { path, sha256, title, chars, placesOf }: AboutFile,
): PartEvidence {
  const shown: CitableBlock[] = [];
  const sources: CitableBlock[] = [];
  for (const { words, level, source, ...span } of nodes) {
    if (words === null) continue;
    const number = shown.length + 1;
    const isWhole = level === null && span.startChar === 0 && span.endChar === chars;
    const block = {
      ...{ ...span, number, path, sha256, title, headingPath: null, chunkKey: null },
      ...(isWhole ? { isWhole } : {}),
    };
    shown.push({ ...block, text: words, summaryLevel: level });
    const places = placesOf === undefined ? {} : { places: placesOf(span.startChar, source) };
    sources.push({ ...block, text: source, summaryLevel: null, ...places });
  }
  return { shown, sources };
}

/** The pieces of several files, in the order of the files, numbered from 1. */
export function joinEvidence(files: readonly PartEvidence[]): PartEvidence {
  const numbered = (block: CitableBlock, index: number) => ({ ...block, number: index + 1 });
  return {
    shown: files.flatMap(({ shown }) => shown).map(numbered),
    sources: files.flatMap(({ sources }) => sources).map(numbered),
  };
}

/** @throws RangeError unless the nodes stand in order, touch, and cover all characters from 0 on */
export function assertCovers(nodes: readonly PartNode[], chars: number): void {
  let position = 0;
  for (const { startChar, endChar } of nodes) {
    if (startChar !== position || endChar <= startChar) {
      throw new RangeError(`a part from ${startChar} to ${endChar} does not follow ${position}`);
    }
    position = endChar;
  }
  if (position !== chars) throw new RangeError(`the parts end at ${position} of ${chars}`);
}

/** The record of a node. @param nothing the text for a node without words */
export const recordOf = (
  { level, startChar, endChar, lineStart, lineEnd, words }: PartNode,
  { path, ordinal }: Pick<PartRecord, "path" | "ordinal">,
  nothing: string,
): PartRecord => ({
  path: cleanText(path),
  level: level ?? 0,
  ordinal,
  startChar,
  endChar,
  lineStart,
  lineEnd,
  summary: words ?? nothing,
});

/** Identifies a prompt's pieces within one file: by their spans, and the level of their summaries. */
export const spansOf = (
  pieces: readonly Pick<CitableBlock, "startChar" | "endChar" | "summaryLevel">[],
): string[] =>
  pieces.map(
    ({ startChar, endChar, summaryLevel }) => `${startChar}-${endChar} ${summaryLevel ?? "file"}`,
  );

/** A stretch of a text. Characters are code points from 0, lines count from 1. */
export type TextPart = {
  readonly text: string;
  readonly startChar: number;
  readonly endChar: number;
  readonly lineStart: number;
  readonly lineEnd: number;
};

type Position = Pick<TextPart, "startChar" | "lineStart">;

const START: Position = { startChar: 0, lineStart: 1 };

/**
 * Where to cut, best first: before a heading, after a blank line, after a line, after a sentence, at a space. The number is how
 * many characters of the mark stay in the part before the cut.
 */
const CUTS: readonly (readonly [string, number])[] = [
  ["\n#", 1],
  ["\n\n", 2],
  ["\n\r\n", 3],
  ["\n", 1],
  [". ", 2],
  ["。", 1],
  [" ", 1],
];

/**
 * Cuts a text into parts of at most `maxChars` UTF-16 units that cover it completely. Each part ends at the last place of the
 * best kind of `CUTS` in its second half. No cut goes through a surrogate pair or a CRLF. Linear in the text.
 *
 * @param maxChars 2 or more
 * @param from where the text starts in its file
 */
export function splitIntoParts(text: string, maxChars: number, from = START): TextPart[] {
  const parts: TextPart[] = [];
  let { startChar, lineStart } = from;
  for (let start = 0; start < text.length;) {
    const end = endOfPart(text, start, maxChars);
    const part = partAt(text.slice(start, end), { startChar, lineStart });
    parts.push(part);
    startChar = part.endChar;
    lineStart = endsLine(part.text) ? part.lineEnd + 1 : part.lineEnd;
    start = end;
  }
  return parts;
}

function partAt(text: string, { startChar, lineStart }: Position): TextPart {
  const breaks = text.match(/\r\n?|\n/g)?.length ?? 0;
  return {
    text,
    startChar,
    endChar: startChar + countCodePoints(text),
    lineStart,
    lineEnd: lineStart + (endsLine(text) ? breaks - 1 : breaks),
  };
}

const endsLine = (text: string): boolean => /[\r\n]$/.test(text);

function endOfPart(text: string, start: number, maxChars: number): number {
  const limit = start + maxChars;
  if (limit >= text.length) return text.length;
  const earliest = start + Math.floor(maxChars / 2);
  // Searches a slice: in the whole text, a mark that it lacks would be searched back to the beginning for each part.
  const secondHalf = text.slice(earliest, limit);
  for (const [mark, kept] of CUTS) {
    const found = secondHalf.lastIndexOf(mark, secondHalf.length - kept);
    if (found !== -1) return earliest + found + kept;
  }
  return isJoined(text, limit) && limit - 1 > start ? limit - 1 : limit;
}

const isJoined = (text: string, cut: number): boolean =>
  /^(?:[\uD800-\uDBFF][\uDC00-\uDFFF]|\r\n)/.test(text.slice(cut - 1, cut + 1));
