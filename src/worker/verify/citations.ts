import { citedRanges, inSquareBrackets, numbersOf } from "../text/cited-numbers.ts";
import { applyEdits, withoutCode } from "../text/clean-text.ts";
import { findEndNotes } from "../text/end-notes.ts";
import { FILLER, foldLookAlikes } from "../text/plain-form.ts";
import type { TextSpan } from "../text/spans.ts";

/** A citation by number, with its range in the text: one bracket may hold several numbers. */
type NumberCitation = TextSpan & {
  readonly numbers: readonly number[];
  /** The linked file: `[1](notes/a.md)`. */
  readonly target?: string;
};

/** A relative link to a file, with or without a heading. */
const FILE_LINK =
  /\(\s{0,4}(?:\.\/)?([^\s()#:/][^\s()#:]{0,400}\.[\p{L}\p{N}]{1,8})(?:#[^\s()]{0,200})?\s{0,4}\)/uy;

/** No honest answer cites so often; beyond this number a range counts only as its first and last number. */
const MOST_NUMBERS = 50_000;

/**
 * Finds the citations by number in a text, in order: `[…]`, also in 【】, in full width, as `\[…\]`, and as a link to a file, but
 * to nothing else. Where there is none, `(1)` and `①` at the ends of sentences. Linear.
 *
 * @param text with code replaced by spaces
 * @param pieces the number of pieces, numbered from 1; 0 if unknown: then years and times are no citations
 */
export function findCitations(text: string, pieces: number): NumberCitation[] {
  const folded = foldLookAlikes(text);
  const bracketed = inSquareBrackets(folded).flatMap(({ start, end, inside }) => {
    const ranges = citedRanges(inside.replaceAll(FILLER, ""), pieces);
    if (ranges.length === 0) return [];
    const from = text.charAt(start - 1) === "\\" ? start - 1 : start;
    if (!text.startsWith("(", end)) return [{ start: from, end, ranges }];
    FILE_LINK.lastIndex = end;
    const [link, target] = FILE_LINK.exec(text) ?? [];
    return link === undefined ? [] : [{ start: from, end: end + link.length, ranges, target }];
  });
  const cited = bracketed.length > 0 ? bracketed : findEndNotes(text, folded, pieces);
  let given = 0;
  return cited.map(({ ranges, ...span }) => {
    const numbers = numbersOf(ranges, pieces, MOST_NUMBERS - given);
    given += numbers.length;
    return { ...span, numbers };
  });
}

/** A citation by name: the text in its brackets, for every possible end of the brackets, shortest first. */
export type NamedCitation = TextSpan & {
  readonly form: "source" | "wiki" | "path";
  readonly readings: readonly { readonly name: string; readonly end: number }[];
};

const OPENING =
  /\[(?:(?<wiki>\[)|\s{0,4}(?<source>(?:source|quelle)\s{0,4}:)|(?=(?<path>[^[\]\n]{1,400})[[\]]))/gi;
/** A name with an extension, alone or before a heading. */
const LOOKS_LIKE_FILE =
  /^[^\s:*?"<>|#](?:[^\n:*?"<>|#]{0,250}[^\s:*?"<>|#])?\.[\p{L}\p{N}]{1,8}\s{0,4}(?:#|$)/u;
/** Chunk keys have 32 hex digits. */
const KEY_LENGTH = /[0-9a-f]{32}/i;
const LONGEST = 600;
const MOST_READINGS = 8;

/**
 * Finds `[notes/a.md#A heading]`, `[Source: notes/a.md#A heading]` and `[[a#A heading]]`, in order. A heading may hold `]`
 * itself, so each later bracket in the line is another possible end. Links are no citations. Bounded work for each bracket.
 *
 * @param text with code and citations by number replaced by spaces
 * @param isName whether the text in brackets names a piece of the evidence
 */
export function findNamedCitations(
  text: string,
  isName: (name: string) => boolean,
): NamedCitation[] {
  const citations: NamedCitation[] = [];
  let after = 0;
  for (const match of text.matchAll(OPENING)) {
    if (match.index < after) continue;
    const form = formOf(match, isName);
    if (form === null) continue;
    const from = match.index + (form === "path" ? 1 : match[0].length);
    const readings = readingsFrom(text, from, form === "wiki" ? "]]" : "]");
    const [first] = readings;
    if (first === undefined || text.startsWith("(", first.end)) continue;
    citations.push({ start: match.index, end: first.end, form, readings });
    after = first.end;
  }
  return citations;
}

function formOf(
  { groups }: RegExpExecArray,
  isName: (name: string) => boolean,
): NamedCitation["form"] | null {
  if (groups?.["wiki"] !== undefined) return "wiki";
  if (groups?.["source"] !== undefined) return "source";
  const path = groups?.["path"] ?? "";
  // "[b]ikes" and "[x] done" do not cite `b.md` and `x.md`.
  const isNamed =
    (/[./#]/.test(path) || KEY_LENGTH.test(path)) &&
    (isName(path) || LOOKS_LIKE_FILE.test(path.trim()));
  return isNamed ? "path" : null;
}

function readingsFrom(text: string, from: number, closer: string): NamedCitation["readings"] {
  const [line = ""] = text.slice(from, from + LONGEST).split("\n", 1);
  const readings: { name: string; end: number }[] = [];
  let at = line.indexOf(closer);
  while (at !== -1 && readings.length < MOST_READINGS) {
    readings.push({ name: line.slice(0, at).trim(), end: from + at + closer.length });
    at = line.indexOf(closer, at + 1);
  }
  return readings;
}

/**
 * The text without its citations by number and the spaces before them. Everything else stays, also code and " .env".
 * @param pieces the number of pieces, numbered from 1; 0 if unknown
 */
export function withoutCitations(text: string, pieces: number): string {
  const cited = findCitations(withoutCode(text), pieces);
  const cuts = cited.map(({ start, end }) => ({ start, end, text: "\0" }));
  return applyEdits(text, cuts).replace(/(?:[ \t]{0,8}\0)+/g, "");
}
