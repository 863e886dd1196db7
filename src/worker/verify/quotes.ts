import type { QuoteRecord } from "../../shared/job/run-result.ts";
import { countCodePoints, withoutSpans } from "../text/clean-text.ts";
import type { TextSpan } from "../text/spans.ts";
import { firstEndingAfter } from "./cited-sentences.ts";
import { unclaimedClass } from "./unclaimed-quotes.ts";
import type { QuoteContext } from "./unclaimed-quotes.ts";
import { verifyQuotes } from "./verify-quotes.ts";

/**
 * Looks up the quotes of an answer. A quote that is not found whole and holds citations is looked up in the parts between them:
 * these are sentences from several places, each cited, whose quotation marks happen to form a pair. A quote that is not found
 * and does not claim words of the evidence gets a class of its own.
 *
 * @param prose the answer with code replaced by spaces
 * @param citations their ranges, in order
 * @param citedBetween returns the numbers that the sentences between two offsets cite
 */
export function checkQuotes(
  prose: string,
  citations: readonly TextSpan[],
  citedBetween: (start: number, end: number) => readonly number[],
  context: QuoteContext,
): QuoteRecord[] {
  const text = withoutSpans(prose, citations);
  const wholes = findQuotes(text);
  const lookUp = (spans: readonly TextSpan[]): QuoteRecord[] => {
    const quotes = spans.map(({ start, end }) => ({
      quote: text.slice(start, end),
      cited: citedBetween(start, end + 1),
    }));
    const found = verifyQuotes(quotes, context.evidence);
    return found.map((record, at) => {
      const span = spans[at];
      if (isWhole(record) || span === undefined) return record;
      const cited = new Set(quotes[at]?.cited);
      const evidence = context.evidence.filter(
        ({ number }) => cited.size === 0 || cited.has(number),
      );
      const unclaimed = unclaimedClass(text, span, { ...context, evidence });
      return unclaimed === null ? record : { ...record, class: unclaimed, span: null };
    });
  };
  const records = lookUp(wholes);
  const parted = wholes.map((whole, at) =>
    isWhole(records[at]) ? [] : partsBetween(whole, citations, text),
  );
  const found = lookUp(parted.flat());
  let at = 0;
  return records.flatMap((record, index) => {
    const count = parted[index]?.length ?? 0;
    at += count;
    return count === 0 ? [record] : found.slice(at - count, at);
  });
}

const isWhole = (record: QuoteRecord | undefined): boolean =>
  record?.class !== "not_found" && record?.class !== "stitched";

/** The texts between the citations inside a quote; none where it holds no citation. */
function partsBetween(
  { start, end }: TextSpan,
  citations: readonly TextSpan[],
  text: string,
): TextSpan[] {
  const inside: TextSpan[] = [];
  for (let at = firstEndingAfter(citations, start); at < citations.length; at += 1) {
    const citation = citations[at];
    if (citation === undefined || citation.end >= end) break;
    inside.push(citation);
  }
  const ends = [...inside.map((citation) => citation.start), end];
  const starts = [start, ...inside.map((citation) => citation.end)];
  const parts = starts
    .map((from, at) => ({ start: from, end: ends[at] ?? end }))
    .filter((part) => /[\p{L}\p{N}]/u.test(text.slice(part.start, part.end)));
  return parts.length > 1 ? parts : [];
}

/** A shorter text in quotation marks is a term, not a quote. */
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
 * Finds the texts of 12 characters and more that claim to be quoted: in quotation marks of any kind, without the marks, the
 * outermost of nested ones, and block quotations. An unclosed quote ends with its sentence. Linear.
 * @param text with code and citations replaced by spaces
 */
export function findQuotes(text: string): TextSpan[] {
  const marked = findMarked(text);
  const quotes = [...marked, ...findSingleQuotes(text, marked), ...findBlockQuotes(text, marked)];
  return quotes
    .filter(({ start, end }) => {
      const quote = text.slice(start, end).trim();
      return quote.length >= FEWEST_QUOTE_CHARS && countCodePoints(quote) >= FEWEST_QUOTE_CHARS;
    })
    .sort((one, other) => one.start - other.start);
}

/** The texts in closed quotation marks, of any length, in order, without the marks. */
export function findClosedQuotes(text: string): TextSpan[] {
  const marked = findMarked(text).filter(({ end }) => CLOSING.test(text.charAt(end)));
  return [...marked, ...findSingleQuotes(text, marked)].sort(
    (one, other) => one.start - other.start,
  );
}

const CLOSING = /["＂”“»«›‹」』]/;

const findMarked = (text: string): TextSpan[] =>
  paragraphsOf(text).flatMap((paragraph) => quotesIn(text, paragraph));

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
    else if (open.length < DEEPEST && opensQuote(text, index)) {
      open.push({ start: index + 1, closers: CLOSERS[char] ?? "" });
    }
  }
  const [unclosed] = open;
  return unclosed === undefined ? quotes : [...quotes, firstSentence(text, unclosed.start, end)];
}

const ONLY_CLOSERS = "」』";

const opensQuote = (text: string, index: number): boolean => {
  const char = text.charAt(index);
  return CLOSERS[char] !== undefined && (!AMBIGUOUS.includes(char) || opensWord(text, index));
};

/** Whether a mark opens a nested quote: behind a space and before a word, inside a quote with the same mark. */
const opensNested = (text: string, index: number, open: readonly Open[]): boolean =>
  open.length > 0 &&
  AMBIGUOUS.includes(text.charAt(index)) &&
  /^\s[\p{L}\p{N}]/u.test(text.charAt(index - 1) + text.slice(index + 1, index + 3));

/** Whether a mark opens a word: not behind a figure, where it means inches, nor behind a word, unless a word follows directly. */
function opensWord(text: string, index: number): boolean {
  const before = text.slice(Math.max(0, index - 2), index);
  const after = text.slice(index + 1, index + 3);
  if (/^(?:\s|$)/.test(after) || /\p{N}$/u.test(before)) return false;
  return !/[\p{L}\p{M}]$/u.test(before) || /^\p{L}/u.test(after);
}

const QUOTED = /^[ \t]{0,8}(?:[-*+][ \t]{1,4})?>[ \t>]*/;
/** Lines in a block quotation that are not quoted: an alert of GitHub, a signature, a table. */
const NO_QUOTE = /^(?:\[![A-Z]+\]|[—–―-]{1,2}[ \t]*\S|\|)/;

/**
 * Finds the paragraphs behind `>`, which claim to be quoted, without signatures, alerts and tables. A paragraph that opens with
 * a quotation mark is skipped, because `findMarked` finds it.
 */
function findBlockQuotes(text: string, marked: readonly TextSpan[]): TextSpan[] {
  const quotes: TextSpan[] = [];
  const opened = new Set(marked.map(({ start }) => start - 1));
  let open: { start: number; end: number } | null = null;
  let at = 0;
  for (const line of text.split("\n")) {
    const mark = QUOTED.exec(line)?.[0];
    const words = mark === undefined ? "" : line.slice(mark.length).trim();
    if (mark === undefined || words === "" || NO_QUOTE.test(words)) open = null;
    else {
      const start = at + mark.length;
      if (open === null) quotes.push((open = { start, end: start }));
      open.end = at + line.trimEnd().length;
    }
    at += line.length + 1;
  }
  return quotes.filter(({ start }) => !opened.has(start));
}

const LONGEST = 1_000;
const OPENS =
  /(?<![\p{L}\p{M}\p{N}'’])['‘](?=[\p{L}\p{N}])(?!\d0s|(?:tis|twas|til|till|em|cause|bout|n)\b)/iu;
const CLOSES = /(?<=[^\s'‘])['’](?![\p{L}\p{N}])/u;
const MARK = new RegExp(
  `(?<opens>${OPENS.source})|(?<closes>${CLOSES.source})|\\n[ \\t>]*\\n`,
  "giu",
);

/**
 * Finds the texts in single quotation marks, which are also apostrophes: opened before a word, closed behind one, in one
 * paragraph, with at most 1,000 characters, and outside of other quotation marks.
 */
function findSingleQuotes(text: string, marked: readonly TextSpan[]): TextSpan[] {
  const quotes: TextSpan[] = [];
  let start: number | null = null;
  let at = 0;
  for (const { index, groups } of text.matchAll(MARK)) {
    while ((marked[at]?.end ?? Number.POSITIVE_INFINITY) < index) at += 1;
    if (index >= (marked[at]?.start ?? Number.POSITIVE_INFINITY)) continue;
    const isFar: boolean = start !== null && index - start > LONGEST;
    if (start !== null && !isFar && groups?.["closes"] !== undefined) {
      quotes.push({ start, end: index });
      start = null;
    } else if (groups?.["opens"] !== undefined) start = isFar ? index + 1 : (start ?? index + 1);
    else if (groups?.["closes"] === undefined) start = null;
  }
  return quotes;
}
