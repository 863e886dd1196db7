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
    .flatMap((sentence) => cutToFit(text, sentence));

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

const CITATIONS = String.raw`(?:[ \t]{0,2}(?:[[【][^[\]【】]{1,4000}[\]】]|[(（][\d\s,;–-]{1,80}[)）]|[①-⑳❶-❿]))*`;
const STOP = new RegExp(
  String.raw`(?:[.!?…]["'”’»›)\]*_]{0,4}${CITATIONS}(?=\s)|[。！？][」』”）]{0,3}${CITATIONS})`,
  "gu",
);
const OPENS_SENTENCE = /^\s+["'“‘«»([*_-]{0,4}(?!\p{Ll})[\p{L}\p{N}]/u;
const MONTH =
  /^\s+(?:jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])\p{L}{0,7}(?!\p{L})/iu;
/** Words before a full stop that does not end a sentence. */
const ABBREVIATIONS = new Set(
  `mr mrs ms dr prof st vs e.g i.e cf approx no nos fig p pp vol dept est inc ltd co z.b d.h bzw ca nr str u.a abs
  art bd s hrsg`.split(/\s+/),
);

function cutAtStops(text: string, { start, end }: TextSpan): TextSpan[] {
  const paragraph = text.slice(start, end);
  const spans: TextSpan[] = [];
  let from = 0;
  for (const match of paragraph.matchAll(STOP)) {
    const to = match.index + match[0].length;
    if (!endsSentence(paragraph, match.index, to)) continue;
    spans.push({ start: start + from, end: start + to });
    from = to;
  }
  spans.push({ start: start + from, end });
  return spans.map((span) => trimmed(text, span)).filter((span) => span.end > span.start);
}

function endsSentence(text: string, stop: number, to: number): boolean {
  if (/[。！？]/.test(text.charAt(stop))) return true;
  const after = text.slice(to, to + 24);
  if (!OPENS_SENTENCE.test(after)) return false;
  if (text.charAt(stop) !== ".") return true;
  const word = /[^\s"'“‘([*_]*$/.exec(text.slice(Math.max(0, stop - 12), stop))?.[0] ?? "";
  if (/^\d{1,2}$/.test(word)) return !MONTH.test(after);
  return !/^\p{Lu}$/u.test(word) && !ABBREVIATIONS.has(word.toLowerCase());
}

function trimmed(text: string, span: TextSpan): TextSpan {
  const slice = text.slice(span.start, span.end);
  const start = span.start + slice.length - slice.trimStart().length;
  return { start, end: Math.max(start, span.start + slice.trimEnd().length) };
}

/** Cuts what is too long at the last blank that fits, and never through a character. */
function cutToFit(text: string, { start, end }: TextSpan): TextSpan[] {
  const spans: TextSpan[] = [];
  let from = start;
  while (end - from > MAX_CHARS) {
    const blank = from + text.slice(from, from + MAX_CHARS + 1).lastIndexOf(" ");
    let to = blank > from ? blank : from + MAX_CHARS;
    if (/[\uDC00-\uDFFF]/.test(text.charAt(to))) to -= 1;
    spans.push({ start: from, end: to });
    from = blank > from ? to + 1 : to;
  }
  spans.push({ start: from, end });
  return spans;
}
