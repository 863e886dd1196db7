import { cleanForDatabase } from "../../shared/terminal/styled-text.ts";
import type { TextSpan } from "./spans.ts";

/** The text of a document or a model, cleaned for the database. */
export const cleanText = cleanForDatabase;

/** The same for every string in a JSON value; numbers that JSON can't hold become text. */
function cleanJson(value: unknown): unknown {
  if (typeof value === "string") return cleanText(value);
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (Array.isArray(value)) return value.map(cleanJson);
  if (typeof value !== "object" || value === null) return value;
  return cleanRecord(value);
}

export const cleanRecord = (value: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value).map(([key, member]) => [cleanText(key), cleanJson(member)]),
  );

/**
 * Control characters but tab and line feed, marks that turn the direction of text, blanks of no width, fillers, and the
 * tag characters in which whole sentences can be hidden.
 */
const INVISIBLE =
  /[\0-\x08\x0E-\x1F\x7F-\x9F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB\u{E0000}-\u{E0FFF}]/gu;
const LINE_BREAK = /\r\n|[\r\v\f\x85\u2028\u2029]/g;

/**
 * The text as a reader sees it: line breaks of every kind become line feeds, and invisible characters go, so that none
 * splits a mark of the protocol. Joiners stay, because scripts and emoji need them.
 */
export const visibleText = (text: string): string =>
  text.replace(LINE_BREAK, "\n").replace(INVISIBLE, "");

/** Number of Unicode code points. */
export function countCodePoints(text: string): number {
  let pairs = 0;
  // No matchAll: a list of all pairs takes many times the memory of the text.
  const pair = /[\uD800-\uDBFF][\uDC00-\uDFFF]/g;
  while (pair.test(text)) pairs += 1;
  return text.length - pairs;
}

/** The first `count` code points. */
export const firstCodePoints = (text: string, count: number): string =>
  text.length <= count ? text : text.slice(0, unitsOf(text, 0, count));

/** The code points from `start` up to `end`. */
export function sliceCodePoints(text: string, start: number, end: number): string {
  const from = unitsOf(text, 0, start);
  return text.slice(from, unitsOf(text, from, end - start));
}

/** The UTF-16 offset behind so many code points after `from`. */
function unitsOf(text: string, from: number, codePoints: number): number {
  let unit = from;
  for (let taken = 0; taken < codePoints && unit < text.length; taken += 1) {
    unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
  }
  return unit;
}

/**
 * The text with fenced blocks and inline code blanked, character for character, so that every offset stays: code holds no
 * markup. An unclosed fence and inline code that is only a citation stay, because models write `[1]` between backticks.
 */
export function withoutCode(text: string): string {
  const lines = text.split("\n");
  let open: { readonly fence: string; readonly line: number } | null = null;
  const fenced = new Set<number>();
  lines.forEach((line, index) => {
    if (open === null) {
      const fence = OPENING.exec(line)?.[1];
      if (fence !== undefined) open = { fence, line: index };
    } else if (CLOSING.exec(line)?.[1]?.startsWith(open.fence) === true) {
      for (let inside = open.line; inside <= index; inside += 1) fenced.add(inside);
      open = null;
    }
  });
  const shown = lines.map((line, index) => (fenced.has(index) ? blank(line) : line));
  return shown.join("\n").replace(/`[^`\n]*`/g, withoutSpan);
}

const withoutSpan = (code: string): string => (CITATION.test(code) ? code : blank(code));

const CITATION = /^`[[(][\d,; –-]{1,4000}[\])]`$/;
const OPENING = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const CLOSING = /^ {0,3}(`{3,}|~{3,})[ \t]*$/;

/** As many blanks, with the line breaks where they were. */
export const blank = (text: string): string => text.replace(/[^\n]/g, " ");

/** A slice of a text, and its replacement. */
type Edit = TextSpan & { readonly text: string };

/** The text with all edits applied; among overlapping ones only the first. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const edit of [...edits].sort((one, other) => one.start - other.start)) {
    if (edit.start < at) continue;
    pieces.push(text.slice(at, edit.start), edit.text);
    at = edit.end;
  }
  return [...pieces, text.slice(at)].join("");
}

/** The text with these spans blanked; they must be in order. A span that begins within the one before stays. */
export function withoutSpans(text: string, spans: readonly TextSpan[]): string {
  const pieces: string[] = [];
  let from = 0;
  let at = 0;
  for (const { start, end } of spans) {
    if (start < at) continue;
    // Adjacent spans are blanked as one.
    if (start > at) {
      pieces.push(blank(text.slice(from, at)), text.slice(at, start));
      from = start;
    }
    at = end;
  }
  return [...pieces, blank(text.slice(from, at)), text.slice(at)].join("");
}

const NOTE_MARKS_BEFORE = /^(?:\[(?:\^|comment )[\p{L}\p{N}_-]{1,20}\]:? {0,2}){1,9}/u;
const NOTE_MARKS_BEHIND = /(?: {0,2}\[(?:\^|comment )[\p{L}\p{N}_-]{1,20}\]){1,9}[.!?]? {0,2}$/u;

/** A part of a text without marks of footnotes at its ends, such as "[^2]", which say nothing and look like a citation. */
export function withoutNoteMarks(text: string, { start, end }: TextSpan): TextSpan {
  const part = text.slice(start, end);
  const opening = NOTE_MARKS_BEFORE.exec(part)?.[0].length ?? 0;
  const closing = NOTE_MARKS_BEHIND.exec(part.slice(opening))?.[0].length ?? 0;
  return { start: start + opening, end: end - closing };
}
