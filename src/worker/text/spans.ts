import { cutToFit, sentenceEnds } from "./sentences.ts";

/** A slice of a text, in UTF-16 units. */
export type TextSpan = { readonly start: number; readonly end: number };

/** Longer stretches are no sentences, but text that nobody punctuated. */
const MAX_CHARS = 1000;
/** A line that continues no paragraph: a heading, a list item, a table row, a quotation. */
const OPENS_BLOCK = /^[ \t]{0,8}(?:#{1,6}[ \t]|[-*+][ \t]|\d{1,3}[.)][ \t]|\||>)/;
const HEADING = /^ {0,3}#{1,6}[ \t]/;

/** The sentences of a text with its markdown as it stands, in order; a citation after the stop belongs to them. */
export const sentenceSpans = (text: string): TextSpan[] =>
  paragraphSpans(text)
    .flatMap((paragraph) => cutAtStops(text, paragraph))
    .flatMap((sentence) => cutToFit(text, sentence, MAX_CHARS));

function paragraphSpans(text: string): TextSpan[] {
  const paragraphs: TextSpan[] = [];
  let open: { start: number; end: number } | null = null;
  for (const { 0: line, index } of text.matchAll(/[^\n\r]+|\n\r?|\r/g)) {
    if (/^[\n\r]/.test(line)) continue;
    const isBlank = line.trim() === "";
    if (open !== null && (isBlank || OPENS_BLOCK.test(line) || hasBlankLine(text, open.end, index)))
      open = null;
    if (isBlank) continue;
    if (open === null) {
      open = { start: index, end: index };
      paragraphs.push(open);
    }
    open.end = index + line.length;
    if (HEADING.test(line)) open = null;
  }
  return paragraphs;
}

const hasBlankLine = (text: string, from: number, to: number): boolean =>
  /[\n\r].*[\n\r]/s.test(text.slice(from, to).replaceAll("\r\n", "\n"));

function cutAtStops(text: string, { start, end }: TextSpan): TextSpan[] {
  let from = start;
  return sentenceEnds(text.slice(start, end))
    .map((offset) => {
      const span = trimmed(text, { start: from, end: start + offset });
      from = start + offset;
      return span;
    })
    .filter((span) => span.end > span.start);
}

function trimmed(text: string, span: TextSpan): TextSpan {
  const slice = text.slice(span.start, span.end);
  const start = span.start + slice.length - slice.trimStart().length;
  return { start, end: Math.max(start, span.start + slice.trimEnd().length) };
}
