import { isHighSurrogate } from "./lines.ts";
import type { Block } from "./lines.ts";

/** UTF-16 offsets, the end not included. */
export type Span = { readonly start: number; readonly end: number };

/** UTF-16 units; a piece is never longer than `maxChars`, and at most half of it is overlap. */
export type CutSettings = { readonly maxChars: number; readonly overlap: number };

const LINE_END = /\n|\r(?!\n)/g;
const SENTENCE_END = /[.!?][)\]"'”’»]?(?=\s)|[。！？]/g;
const CLAUSE_END = /[,;:](?=\s)|[，、；：]/g;
const BLANK = /\s/g;
const SEPARATOR = /[,;}\]]/g;

/** Tried in this order; the last boundary beyond half of the window is taken. */
const BOUNDARIES = {
  lines: [LINE_END, BLANK, SEPARATOR],
  sentences: [SENTENCE_END, LINE_END, CLAUSE_END, BLANK, SEPARATOR],
} as const satisfies Record<Block["cut"], readonly RegExp[]>;

/** Cuts a span that is too long into pieces that overlap, at line ends or sentence ends where there are any. */
export function cutSpan(
  text: string,
  span: Span,
  cut: Block["cut"],
  settings: CutSettings,
): Span[] {
  const pieces: Span[] = [];
  let { start } = span;
  while (span.end - start > settings.maxChars) {
    const end = findCut(text, { start, end: start + settings.maxChars }, cut);
    pieces.push({ start, end });
    start = findRestart(text, { start, end }, settings.overlap);
  }
  pieces.push({ start, end: span.end });
  return pieces;
}

function findCut(text: string, window: Span, cut: Block["cut"]): number {
  const half = window.start + Math.floor((window.end - window.start) / 2);
  const tail = text.slice(half, window.end);
  for (const boundary of BOUNDARIES[cut]) {
    let last = 0;
    for (const match of tail.matchAll(boundary)) last = match.index + match[0].length;
    if (last > 0) return half + last;
  }
  return isHighSurrogate(text, window.end - 1) ? window.end - 1 : window.end;
}

/** After one of these a piece may begin in a script that puts no blanks between words. */
const UNSPACED_END = /[。！？、，；：）」』】]/;

/**
 * `overlap` before the cut, moved on to the next word so that none is cut in two; where there are no blanks, to the
 * next mark of punctuation, or to the next whole character.
 */
function findRestart(text: string, piece: Span, overlap: number): number {
  const earliest = piece.end - Math.min(overlap, Math.floor((piece.end - piece.start) / 2));
  for (const boundary of [/\s/, UNSPACED_END]) {
    for (let at = earliest; at < piece.end; at += 1) {
      if (boundary.test(text.charAt(at - 1))) return at;
    }
  }
  let at = earliest;
  while (at < piece.end && !beginsCharacter(text, at)) at += 1;
  return at;
}

/** Not the second half of a pair, nor a mark that belongs to the letter before it. */
const beginsCharacter = (text: string, at: number): boolean =>
  !isHighSurrogate(text, at - 1) && !/^[\p{M}\u200d\ufe0f]/u.test(text.slice(at, at + 2));

/** A hostile title of a megabyte would otherwise be stored, searched and embedded with every chunk below it. */
const TITLE_CHARS = 200;

/** A title or heading of at most 200 UTF-16 units, the last an ellipsis where it was longer. */
export function shortenTitle(title: string): string {
  if (title.length <= TITLE_CHARS) return title;
  // A surrogate pair that the cut went through is dropped whole.
  return `${title.slice(0, TITLE_CHARS - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
