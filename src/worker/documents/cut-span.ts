import { isHighSurrogate } from "./lines.ts";
import type { Block } from "./lines.ts";

/** UTF-16 offsets, the end not included. */
export type Span = { readonly start: number; readonly end: number };

/** In UTF-16 units. A piece is never longer than `maxChars`, and at most half of a piece is overlap. */
export type CutSettings = { readonly maxChars: number; readonly overlap: number };

const LINE_END = /\n|\r(?!\n)/g;
const SENTENCE_END = /[.!?][)\]"'”’»]?(?=\s)|[。！？]/g;
const CLAUSE_END = /[,;:](?=\s)|[，、；：]/g;
const BLANK = /\s/g;
const SEPARATOR = /[,;}\]]/g;

/** Boundaries in the order of preference; the cut is at the last one in the second half of the window. */
const BOUNDARIES = {
  lines: [LINE_END, BLANK, SEPARATOR],
  sentences: [SENTENCE_END, LINE_END, CLAUSE_END, BLANK, SEPARATOR],
} as const satisfies Record<Block["cut"], readonly RegExp[]>;

/** Cuts a span that is too long into overlapping pieces, at line ends or sentence ends if there are any. */
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

/** In a script without blanks between words a piece may begin behind one of these marks. */
const UNSPACED_END = /[。！？、，；：）」』】]/;

/**
 * Where the next piece begins: `overlap` before the cut, then forward to the next word; without blanks, forward to the next
 * mark of punctuation or whole character.
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

/** False for the second half of a surrogate pair and for a mark that combines with the letter before it. */
const beginsCharacter = (text: string, at: number): boolean =>
  !isHighSurrogate(text, at - 1) && !/^[\p{M}\u200d\ufe0f]/u.test(text.slice(at, at + 2));

/** Bounds a hostile title of a megabyte, which would be stored, searched and embedded with every chunk below it. */
const TITLE_CHARS = 200;

/** The title or heading, cut to 200 UTF-16 units with an ellipsis at the end if it is longer. */
export function shortenTitle(title: string): string {
  if (title.length <= TITLE_CHARS) return title;
  // If the cut goes through a surrogate pair, its first half goes too.
  return `${title.slice(0, TITLE_CHARS - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
