import { citedRanges, inParentheses, isYears, namePieces } from "./cited-numbers.ts";
import type { NumberRange } from "./cited-numbers.ts";
import { findNumberWords } from "./figures/number-words.ts";
import { FILLER } from "./plain-form.ts";
import type { TextSpan } from "./spans.ts";

/** `(1)` or `①` at the end of a sentence, with the numbers in it. */
type EndNote = TextSpan & { readonly ranges: readonly NumberRange[] };

/** Circled numbers: the first and the last of a row, and the number of the first. */
const CIRCLED: readonly (readonly [string, string, number])[] = [
  ["①", "⑳", 1],
  ["⑴", "⒇", 1],
  ["⓫", "⓴", 11],
  ["⓵", "⓾", 1],
  ["❶", "❿", 1],
  ["➀", "➉", 1],
  ["➊", "➓", 1],
  ["㉑", "㉟", 21],
  ["㊱", "㊿", 36],
];
const CIRCLE = new RegExp(`[${CIRCLED.map(([first, last]) => `${first}-${last}`).join("")}]`, "gu");
/** Only numbers, as a list or a range, perhaps behind a word such as "sources". */
const IN_PARENTHESES = /^(?:\s*(?:evidence|sources?|passages?|quellen?)\s)?[\d\s,;–—-]+$/i;

const CLOSERS = "[\"'”’»«›)*_`~\\]]{0,6}";
const STOP = "[.!?。！？…؟۔।]";
/** The text behind the last note: a stop, the end of the line, or after a stop the next sentence. */
const ENDS_WITH_STOP = new RegExp(`^${CLOSERS}(?:[。！？।]|${STOP}{1,3}${CLOSERS}(?:\\s|$))`, "u");
const ENDS_LINE = new RegExp(`^${CLOSERS}[ \\t]{0,8}(?:\\n|$)`, "u");
const ENDS_PARTED = new RegExp(`^${CLOSERS}\\s{1,8}[^\\p{L}]{0,4}(?!\\p{Ll})[\\p{L}\\p{N}]`, "u");
const BEHIND_STOP = new RegExp(`${STOP}${CLOSERS}[ \\t]{0,2}$`, "u");
/** The text between two notes that belong together. */
const BETWEEN = /^[ \t]{0,2}[,;]?[ \t]{0,2}$/;
/** How many characters before and behind a note are tested. */
const WINDOW = 40;

/**
 * The citations at the ends of sentences that stand in parentheses or circles: "It opened in 1850 (1).", "… in 1850. (2)",
 * "…である①。". Excluded are labels of lists, years, repeated numbers ("three (3)"), and numbers of no piece. Linear.
 *
 * @param folded the text as `foldLookAlikes` gives it, of the same length
 * @param pieces how many there are, numbered from 1
 */
export function findEndNotes(text: string, folded: string, pieces: number): EndNote[] {
  const candidates = [...notesInParentheses(folded), ...notesInCircles(text)]
    .filter(({ ranges }) => namePieces(ranges, pieces) && !ranges.some(isYears))
    .sort((one, other) => one.start - other.start)
    .filter(({ start }, at, all) => start >= (all[at - 1]?.end ?? 0));
  const found: EndNote[] = [];
  for (const note of candidates.toReversed()) {
    const isAtEnd = endsSentence(text, note) || belongsToNext(text, note, found.at(-1));
    if (isAtEnd && !repeatsNumber(text, note)) found.push(note);
  }
  return found.toReversed().filter(({ start }) => !opensLine(text, start));
}

const windowFrom = (text: string, from: number, to: number): string =>
  text.slice(from, Math.min(to, from + WINDOW));

const textBefore = (text: string, at: number): string => text.slice(Math.max(0, at - WINDOW), at);

function notesInParentheses(folded: string): EndNote[] {
  return inParentheses(folded).flatMap(({ start, end, inside }) => {
    const plain = inside.replaceAll(FILLER, "");
    if (!IN_PARENTHESES.test(plain)) return [];
    const ranges = citedRanges(plain, Number.POSITIVE_INFINITY);
    return ranges.length === 0 ? [] : [{ start, end, ranges }];
  });
}

const notesInCircles = (text: string): EndNote[] =>
  [...text.matchAll(CIRCLE)].map(({ 0: circled, index }) => {
    const number = numberIn(circled);
    return { start: index, end: index + circled.length, ranges: [{ first: number, last: number }] };
  });

function numberIn(circled: string): number {
  const row = CIRCLED.find(([from, to]) => circled >= from && circled <= to);
  if (row === undefined) return 0;
  const [first, , number] = row;
  return number + circled.charCodeAt(0) - first.charCodeAt(0);
}

function endsSentence(text: string, { end }: TextSpan): boolean {
  const after = windowFrom(text, end, text.length);
  return ENDS_WITH_STOP.test(after) || ENDS_LINE.test(after);
}

/**
 * Whether a note belongs to the next one: it stands right before it, or both stand behind a stop, as in "So. (1) Then. (2)".
 * Any other number behind a stop is the label of the next sentence.
 */
function belongsToNext(text: string, note: TextSpan, next: TextSpan | undefined): boolean {
  if (next === undefined) return false;
  if (BETWEEN.test(windowFrom(text, note.end, next.start))) return true;
  return (
    [note, next].every(({ start }) => BEHIND_STOP.test(textBefore(text, start))) &&
    ENDS_PARTED.test(windowFrom(text, note.end, text.length)) &&
    !windowFrom(text, note.end, next.start).includes("\n")
  );
}

/** Whether the text before a note says the same number, as in "three (3)". */
function repeatsNumber(text: string, { start, ranges }: EndNote): boolean {
  const words = textBefore(text, start).trimEnd();
  if (/\d$/.test(words) && ranges.some(({ first }) => words.endsWith(String(first)))) return true;
  if (!/\p{L}$/u.test(words)) return false;
  const [last] = findNumberWords(words).slice(-1);
  return (
    last?.end === words.length && ranges.some(({ first }) => last.offers.includes(`n:${first}`))
  );
}

/** Whether no word stands before a note in its line, so that it is the label of an item. */
function opensLine(text: string, start: number): boolean {
  const line = textBefore(text, start).split("\n").at(-1) ?? "";
  return !/[\p{L}\p{N}]/u.test(line.replace(/\([\d\s,;–—-]*\)/g, ""));
}
