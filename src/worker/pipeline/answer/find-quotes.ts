import { countCodePoints } from "../text/code-points.ts";
import { findBlockQuotes } from "./find-block-quotes.ts";
import { findSingleQuotes } from "./find-single-quotes.ts";
import type { TextSpan } from "../text/split-spans.ts";

/** A shorter span in quote marks is a term, not a quote. */
const FEWEST_QUOTE_CHARS = 12;
const CLOSERS: Readonly<Record<string, string>> = {
  '"': '"',
  "＂": "＂",
  "“": "”",
  "”": "”",
  "‟": "”",
  "„": "“”",
  "«": "»",
  "»": "«",
  "‹": "›",
  "›": "‹",
  "「": "」",
  "『": "』",
};
/** Marks that also close, and so open only at the start of a word. */
const AMBIGUOUS = '"＂”»›';
const DEEPEST = 8;

/**
 * The spans of 12 characters and more that claim to be quoted: in quote marks of any kind, without the marks, of nested
 * ones the outermost, and block quotations. What nobody closes ends with its sentence. Give it the text with code
 * and citations blanked. Linear.
 */
export function findQuotes(text: string): TextSpan[] {
  const marked = paragraphsOf(text).flatMap((paragraph) => quotesIn(text, paragraph));
  const quotes = [...marked, ...findSingleQuotes(text, marked), ...findBlockQuotes(text, marked)];
  return quotes
    .filter(({ start, end }) => {
      const quote = text.slice(start, end).trim();
      return quote.length >= FEWEST_QUOTE_CHARS && countCodePoints(quote) >= FEWEST_QUOTE_CHARS;
    })
    .sort((one, other) => one.start - other.start);
}

function paragraphsOf(text: string): TextSpan[] {
  const breaks = [...text.matchAll(/\n[ \t>]*(?=\n)/g)];
  const starts = [0, ...breaks.map(({ index }) => index + 1)];
  return starts.map((start, at) => ({ start, end: breaks[at]?.index ?? text.length }));
}

function firstSentence(text: string, start: number, end: number): TextSpan {
  const stop = /[.!?…](?=\s)|[。！？]/u.exec(text.slice(start, end));
  return { start, end: stop === null ? end : start + stop.index + 1 };
}

type Open = { readonly start: number; readonly closers: string };

function quotesIn(text: string, { start, end }: TextSpan): TextSpan[] {
  const quotes: TextSpan[] = [];
  let open: Open[] = [];
  for (let index = start; index < end; index += 1) {
    const char = text.charAt(index);
    if (CLOSERS[char] === undefined && !ONLY_CLOSERS.includes(char)) continue;
    const closed = opensNested(text, index, open)
      ? -1
      : open.findLastIndex(({ closers }) => closers.includes(char));
    const outermost = open[0];
    if (closed === 0 && outermost !== undefined)
      quotes.push({ start: outermost.start, end: index });
    if (closed !== -1) open = open.slice(0, closed);
    else if (open.length < DEEPEST && opens(text, index)) {
      open.push({ start: index + 1, closers: CLOSERS[char] ?? "" });
    }
  }
  const [unclosed] = open;
  return unclosed === undefined ? quotes : [...quotes, firstSentence(text, unclosed.start, end)];
}

const ONLY_CLOSERS = "」』";

const opens = (text: string, index: number): boolean => {
  const char = text.charAt(index);
  return CLOSERS[char] !== undefined && (!AMBIGUOUS.includes(char) || opensWord(text, index));
};

/** A mark after a blank and before a word, inside a quote with the same mark. */
const opensNested = (text: string, index: number, open: readonly Open[]): boolean =>
  open.length > 0 &&
  AMBIGUOUS.includes(text.charAt(index)) &&
  /^\s[\p{L}\p{N}]/u.test(text.charAt(index - 1) + text.slice(index + 1, index + 3));

/** Not after a figure, where it is inches, nor after a word, where it closes, unless a word follows at once. */
function opensWord(text: string, index: number): boolean {
  const before = text.slice(Math.max(0, index - 2), index);
  const after = text.slice(index + 1, index + 3);
  if (/^(?:\s|$)/.test(after) || /\p{N}$/u.test(before)) return false;
  return !/[\p{L}\p{M}]$/u.test(before) || /^\p{L}/u.test(after);
}
