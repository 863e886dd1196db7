import type { EvidenceSpan, QuoteRecord } from "../../shared/job/run-result.ts";
import type { CitableBlock } from "../evidence/number.ts";
import { cleanText } from "../text/clean-text.ts";
import { ELLIPSIS, findSequence, foldWords } from "../text/fold-words.ts";
import { findElided, joinLetters, parseElided, withoutEnds } from "./elided-quotes.ts";
import { headedParts, indexEvidence } from "./evidence-names.ts";
import type { IndexedEvidence, IndexedPiece } from "./evidence-names.ts";

/** A quote of an answer, with the numbers of the pieces its sentence cites. */
type CitedQuote = { readonly quote: string; readonly cited: readonly number[] };

/** No honest answer quotes more often. */
const MOST_QUOTES = 300;
/** Limit of places of the same words that are searched for a verbatim one. */
const MOST_PLACES = 20;

/**
 * Looks up each quote in the evidence, first in the cited pieces. `verbatim` is equal in every code point. `normalised` is
 * equal after folding (fold-words.ts), or without punctuation at its ends. `elided` has its parts in order in one piece, with
 * words left out or inserted as editors do it. The span is the place of the words in the file, for an elided quote from its
 * first part to its last; it is also null for words of a heading or path beside a piece. Linear in the evidence for each quote.
 * @param most limit of quotes that are looked up; the others are `not_found`
 */
export function verifyQuotes(
  quotes: readonly CitedQuote[],
  evidence: readonly CitableBlock[],
  most = MOST_QUOTES,
): QuoteRecord[] {
  if (quotes.length === 0) return [];
  const index = indexEvidence(evidence);
  const isBeside = labelFinder(evidence);
  const findStitches = stitchFinder(index);
  return quotes.map(({ quote: spelled, cited }, at) => {
    const quote = spelled.trim();
    const record = { quote: cleanText(quote) };
    const wanted = at < most ? wantedOf(quote) : NOTHING;
    if (wanted.words.length === 0) return { ...record, class: "not_found", span: null };
    const found = findWhole(wanted, cited, index);
    if (found !== null) return { ...record, ...found };
    if (isBeside(wanted.words)) return { ...record, class: "normalised", span: null };
    const edited = findEdited(quote, cited, index);
    if (edited !== null) return { ...record, ...edited };
    const span = findStitches(wanted.words);
    return { ...record, class: span === null ? "not_found" : "stitched", span };
  });
}

type Wanted = {
  readonly quote: string;
  /** Folded words, without punctuation at the ends. */
  readonly words: readonly string[];
  /** Offset of the first folded word in the quote. */
  readonly lead: number;
};

const NOTHING: Wanted = { quote: "", words: [], lead: 0 };

function wantedOf(quote: string): Wanted {
  const folded = foldWords(quote);
  return {
    quote,
    words: withoutEnds(folded.map(({ text }) => text)),
    lead: folded[0]?.start ?? 0,
  };
}

type QuoteMatch = Pick<QuoteRecord, "class" | "span">;

/** Searches a cited piece, else any other piece, where the quote is misattributed. */
function findIn(
  pieces: readonly IndexedPiece[],
  cited: readonly number[],
  placeOf: (piece: IndexedPiece) => QuoteMatch | null,
): QuoteMatch | null {
  const ofSentence = new Set(cited);
  let elsewhere: QuoteMatch | null = null;
  for (const piece of pieces) {
    const place = placeOf(piece);
    if (place === null) continue;
    if (cited.length === 0 || ofSentence.has(piece.block.number)) return place;
    elsewhere ??= { class: "misattributed", span: place.span };
  }
  return elsewhere;
}

function findWhole(
  wanted: Wanted,
  cited: readonly number[],
  { pieces, idOf }: IndexedEvidence,
): QuoteMatch | null {
  const ids = wanted.words.map(idOf);
  return ids.includes(-1) ? null : findIn(pieces, cited, (piece) => placeIn(piece, ids, wanted));
}

/** Finds a quote with an editor's brackets or ellipses. */
function findEdited(
  quote: string,
  cited: readonly number[],
  { pieces, idOf }: IndexedEvidence,
): QuoteMatch | null {
  const joined = joinLetters(quote);
  const whole = joined === quote ? null : findWhole(wantedOf(joined), cited, { pieces, idOf });
  if (whole !== null) return whole.class === "verbatim" ? { ...whole, class: "normalised" } : whole;
  const elided = parseElided(joined);
  if (elided === null) return null;
  return findIn(pieces, cited, (piece) => {
    const found = findElided(elided, piece, idOf);
    if (found === null) return null;
    const { words, placeOf } = piece;
    const span = placeOf(words[found.first]?.start ?? 0, words[found.end - 1]?.end ?? 0);
    return { class: "elided", span };
  });
}

function placeIn(
  { block, words, ids, placeOf }: IndexedPiece,
  ofWords: readonly number[],
  { quote, lead }: Wanted,
): QuoteMatch | null {
  const [first, ...others] = findSequence(ofWords, ids, MOST_PLACES);
  if (first === undefined) return null;
  const exact = [first, ...others]
    .map((at) => (words[at]?.start ?? 0) - lead)
    .find((start) => block.text.startsWith(quote, start) && start >= 0);
  if (exact !== undefined) {
    return { class: "verbatim", span: placeOf(exact, exact + quote.length) };
  }
  const end = words[first + ofWords.length - 1]?.end ?? 0;
  return { class: "normalised", span: placeOf(words[first]?.start ?? 0, end) };
}

/**
 * Makes a test whether words are in a path, title or heading that the model was shown, or in a heading inside a piece, also
 * behind its path.
 */
function labelFinder(evidence: readonly CitableBlock[]): (words: readonly string[]) => boolean {
  let labels: string | null = null;
  return (words) => (labels ??= labelsOf(evidence)).includes(spacedWords(words));
}

function labelsOf(evidence: readonly CitableBlock[]): string {
  const titles = evidence.flatMap(({ title }) => (title === null ? [] : [title]));
  const headings = headedParts(evidence).flatMap(({ block: { path }, headingPath }) =>
    headingPath === null
      ? [path]
      : [`${path}#${headingPath}`, `${path}#${headingPath.split(" > ").at(-1) ?? ""}`],
  );
  return [...new Set([...titles, ...headings])]
    .map((label) => spacedWords(foldWords(label).map(({ text }) => text)))
    .join("\n");
}

/** The words in a row, with a space before and after each. */
export const spacedWords = (words: readonly string[]): string => ` ${words.join(" ")} `;

/** Fewer words, or fewer characters, could match by chance. */
const FEWEST_WORDS = 3;
const FEWEST_CHARS = 8;

type Stretch = { readonly piece: IndexedPiece; readonly at: number };

/**
 * Makes a function that finds quotes composed from several places of the evidence: parts with an ellipsis between them, or
 * stretches of at least three words and eight characters, which may overlap. It returns the place of the first part; null where
 * some word belongs to no such stretch. Linear in the quote, after the first call has made the table of stretches.
 */
function stitchFinder({
  pieces,
  idOf,
}: IndexedEvidence): (words: readonly string[]) => EvidenceSpan | null {
  let table: Map<string, Stretch> | null = null;
  return (words) => {
    table ??= stretchesOf(pieces);
    const known = table;
    const parts = partsOf(words).map((part) => spanOf(part, { pieces, idOf }, known));
    return parts.includes(null) ? null : (parts[0] ?? null);
  };
}

function stretchesOf(pieces: readonly IndexedPiece[]): Map<string, Stretch> {
  const table = new Map<string, Stretch>();
  for (const piece of pieces) {
    for (let at = 0; at + FEWEST_WORDS <= piece.ids.length; at += 1) {
      const key = keyOf(piece.words.slice(at, at + FEWEST_WORDS).map(({ text }) => text));
      if (key !== null && !table.has(key)) table.set(key, { piece, at });
    }
  }
  return table;
}

function keyOf(words: readonly string[]): string | null {
  const key = words.join(" ");
  return words.length < FEWEST_WORDS || key.length < FEWEST_CHARS + FEWEST_WORDS - 1 ? null : key;
}

function partsOf(words: readonly string[]): string[][] {
  const parts: string[][] = [[]];
  for (const word of words) {
    if (word === ELLIPSIS) parts.push([]);
    else parts.at(-1)?.push(word);
  }
  return parts.filter((part) => part.length > 0);
}

function spanOf(
  part: readonly string[],
  evidence: IndexedEvidence,
  table: ReadonlyMap<string, Stretch>,
): EvidenceSpan | null {
  if (part.length < FEWEST_WORDS) return wholeSpan(part, evidence);
  const stretches = part.map((_, at) => {
    const key = keyOf(part.slice(at, at + FEWEST_WORDS));
    return key === null ? undefined : table.get(key);
  });
  const isCovered = part.every((_, at) =>
    stretches.slice(Math.max(0, at - FEWEST_WORDS + 1), at + 1).some(Boolean),
  );
  const [first] = stretches;
  return isCovered && first !== undefined ? extendMatch(part, first) : null;
}

function wholeSpan(
  part: readonly string[],
  { pieces, idOf }: IndexedEvidence,
): EvidenceSpan | null {
  const wanted = part.map(idOf);
  for (const piece of pieces) {
    const [at] = findSequence(wanted, piece.ids, 1);
    if (at !== undefined) return extendMatch(part, { piece, at });
  }
  return null;
}

/** The place of as many words of the part as follow each other there. */
function extendMatch(part: readonly string[], { piece, at }: Stretch): EvidenceSpan {
  let count = 1;
  while (count < part.length && piece.words[at + count]?.text === part[count]) count += 1;
  return piece.placeOf(piece.words[at]?.start ?? 0, piece.words[at + count - 1]?.end ?? 0);
}
