import type { EvidenceSpan, FieldBinding, QuoteRecord } from "../../../shared/job/run-result.ts";
import { placesIn } from "../../evidence/number.ts";
import type { CitableBlock } from "../../evidence/number.ts";
import type { PureWork } from "../../offload/offload.ts";
import { sliceCodePoints } from "../../text/clean-text.ts";
import { DOUBT_MARK, doubtIn } from "../../text/doubt-mark.ts";
import { foldWords } from "../../text/fold-words.ts";
import { languageOf } from "../../text/detect-language.ts";
import { unitsOf } from "../claims/units.ts";
import { once, onceEach } from "../../../shared/once.ts";
import { unescapePointer } from "../../../shared/schema/json-value.ts";
import { firstIndex } from "../../text/first-index.ts";
import { spacedWords, verifyQuotes } from "../verify-quotes.ts";
import { figureReader, meansOther, meetsName, readFieldName } from "./labels.ts";
import type { FigureType, Label, LabelledFigure } from "./labels.ts";
import { holdsDates, holdsNumber, isDate, quotedWords } from "./figures-in.ts";
import type { QuotedWords } from "./figures-in.ts";
import { gradeField } from "./grade-field.ts";
import { figureTypeOf } from "./quoted-fields.ts";
import type { FieldValue } from "./quoted-fields.ts";
import { holdsChoice, holdsText, holdsTruth } from "./words-in.ts";

type Bindable = {
  readonly values: readonly FieldValue[];
  readonly evidence: readonly CitableBlock[];
};

/**
 * Binds each value, in order, to words of the document that hold it: its own quote, or the whole sentence or row of that quote;
 * for a quote of its object also two sentences on each side. A value without its own quote is bound to the one sentence that
 * holds it, if it is a number of two digits or more, a date or a name; such a value is in doubt. Also in doubt is a figure in a
 * line whose label names something else, and one that text recognition marked as doubtful.
 */
export function bindFields({ values, evidence }: Bindable): FieldBinding[] {
  const document = readDocument(evidence);
  const locate = quoteFinder(values, evidence);
  const isLabelledOtherwise = labelCheck(values, document);
  const wordsAt = wordsIn(evidence);
  return values.map((field) => {
    const { pointer, value } = field;
    const graded = (found: Pick<FieldBinding, "state" | "reason" | "quote" | "span">) =>
      gradeField(field, { pointer, value, ...found }, null);
    const nowhere = { quote: null, span: null };
    if (value === null) return graded({ state: "null", reason: null, ...nowhere });
    const found = findBinding(field, document, locate);
    if (typeof found === "string") return graded({ state: "unbound", reason: found, ...nowhere });
    const { isLookedUp, ...words } = found;
    const isDoubtful = doubtIn(wordsAt(words.span), String(value)) !== undefined;
    const doubt = isDoubtful ? "reading" : isLookedUp ? "no_quote" : null;
    const reason = isLabelledOtherwise(field, words) ? "other_label" : doubt;
    return graded({ state: "bound", reason, ...words });
  });
}

const wordsIn =
  (evidence: readonly CitableBlock[]) =>
  ({ number, startChar, endChar }: EvidenceSpan): string => {
    const block = evidence.find((one) => one.number === number);
    if (block?.text.includes(DOUBT_MARK) !== true) return "";
    return sliceCodePoints(block.text, startChar - block.startChar, endChar - block.startChar);
  };

/** `bindFields` in a thread, for fields and documents of any length. */
export const BIND_FIELDS: PureWork<Bindable, FieldBinding[]> = {
  home: import.meta.url,
  run: bindFields,
};

/** A sentence, a list item, a table row or a heading of the document. */
type Unit = {
  readonly quote: string;
  readonly words: QuotedWords;
  readonly span: EvidenceSpan;
};

type Document = {
  readonly units: readonly Unit[];
  /** All folded words, with a space before and after each. */
  readonly row: string;
  readonly wordsOf: (quote: string) => QuotedWords;
};

function readDocument(evidence: readonly CitableBlock[]): Document {
  const text = evidence.map((block) => block.text).join("\n");
  const years = new Set(
    [...text.matchAll(/(?<!\p{N})(?:19|20)\d\d(?!\p{N})/gu)].map(([year]) => year),
  );
  const language = languageOf(text, null);
  const units = evidence.flatMap((block) => {
    const placeOf = placesIn(block);
    return unitsOf(block)
      .filter(({ kind }) => kind !== "pair")
      .sort((one, other) => one.start - other.start)
      .map((unit): Unit => ({
        quote: block.text.slice(unit.start, unit.end).trim(),
        words: quotedWords({ text: unit.text, language: unit.language ?? language, years }),
        span: placeOf(unit.start, unit.end),
      }));
  });
  return {
    units,
    row: rowOf(text),
    wordsOf: onceEach((quote) => quotedWords({ text: quote, language, years })),
  };
}

const rowOf = (text: string): string => spacedWords(foldWords(text).map(({ text: word }) => word));

type Located = { readonly quote: string; readonly span: EvidenceSpan };
type LocateQuote = (quote: string) => Located | null;

/** Looks up all quotes of the values at once. */
function quoteFinder(
  values: readonly FieldValue[],
  evidence: readonly CitableBlock[],
): LocateQuote {
  const given = values.flatMap(({ quote, quoteBeside }) => [quote, quoteBeside]);
  const quotes = [...new Set(given.filter((quote) => quote !== null))];
  const records = verifyQuotes(
    quotes.map((quote) => ({ quote, cited: [] })),
    evidence,
    quotes.length,
  );
  const located = new Map(quotes.map((quote, at) => [quote, locatedQuote(records[at])]));
  return (quote) => located.get(quote) ?? null;
}

const STANDS: ReadonlySet<QuoteRecord["class"]> = new Set(["verbatim", "normalised", "elided"]);

const locatedQuote = (record: QuoteRecord | undefined): Located | null =>
  record === undefined || record.span === null || !STANDS.has(record.class)
    ? null
    : { quote: record.quote.trim(), span: record.span };

type Unbound = Exclude<FieldBinding["reason"], null>;

/** Words that hold a value. `isLookedUp`: found in the document, because the value had no quote. */
type Holder = Located & { readonly isLookedUp: boolean };

function findBinding(field: FieldValue, document: Document, locate: LocateQuote): Holder | Unbound {
  const { quote, quoteBeside } = field;
  const own = quote === null ? null : locate(quote);
  if (quote !== null && own === null) return "quote_not_found";
  const beside = quoteBeside === null ? null : locate(quoteBeside);
  const held = holderAt(field, own, document, 0) ?? holderAt(field, beside, document, NEIGHBOURS);
  if (held !== null) return { ...held, isLookedUp: false };
  if (own !== null) return saysEnough(own, document) ? "not_in_quote" : "quote_short";
  if (quoteBeside !== null && beside === null) return "quote_not_found";
  const alone = holderAnywhere(field, document);
  if (alone !== null) return { ...alone, isLookedUp: true };
  return beside === null ? "no_quote" : "not_in_quote";
}

/** Sentences on each side of the quote of a whole object that may hold its values. */
const NEIGHBOURS = 2;

/** The quote itself if it holds the value, else the sentence or row of the quote, or a neighbour. */
function holderAt(
  field: FieldValue,
  located: Located | null,
  document: Document,
  neighbours: number,
): Located | null {
  if (located === null) return null;
  const { units } = document;
  const isEnough = saysEnough(located, document);
  if (isEnough && holdsValue(field, document.wordsOf(located.quote))) return located;
  if (!isEnough && !standsOnce(located.quote, document)) return null;
  const first = firstBehind(units, located.span);
  let last = first;
  while (isWithin(units[last + 1], located.span)) last += 1;
  const near = units
    .slice(Math.max(0, first - neighbours), last + 1 + neighbours)
    .filter(({ span }) => span.number === located.span.number);
  const ofQuote = near.filter(({ span }) => overlaps(span, located.span));
  return [...ofQuote, ...near].find(({ words }) => holdsValue(field, words)) ?? null;
}

export const overlaps = (one: EvidenceSpan, other: EvidenceSpan): boolean =>
  one.number === other.number && one.startChar < other.endChar && other.startChar < one.endChar;

const isWithin = (unit: Unit | undefined, span: EvidenceSpan): boolean =>
  unit !== undefined && overlaps(unit.span, span);

/** The index of the first unit that ends behind the beginning of a span. */
const firstBehind = (units: readonly Unit[], { number, startChar }: EvidenceSpan): number =>
  firstIndex(
    units,
    ({ span }) => span.number > number || (span.number === number && span.endChar > startChar),
  );

const FEWEST_WORDS = 2;
const FEWEST_LETTERS = 6;
const LETTERS_OF_A_WORD = 12;

/** Whether a quote is long enough: two words, one long word, or a whole line or row. */
function saysEnough({ quote, span }: Located, { units }: Document): boolean {
  const words = foldWords(quote).filter(({ text }) => /[\p{L}\p{N}]/u.test(text));
  const letters = words.reduce((sum, { text }) => sum + text.length, 0);
  if (letters >= LETTERS_OF_A_WORD) return true;
  if (words.length >= FEWEST_WORDS && letters >= FEWEST_LETTERS) return true;
  const unit = units[firstBehind(units, span)];
  return unit !== undefined && rowOf(unit.quote) === rowOf(quote);
}

function standsOnce(quote: string, { row }: Document): boolean {
  const wanted = rowOf(quote);
  if (wanted.trim() === "") return false;
  const first = row.indexOf(wanted);
  return first !== -1 && !row.includes(wanted, first + 1);
}

function holdsValue(field: FieldValue, words: QuotedWords): boolean {
  const { value, about, options, isJudged } = field;
  if (typeof value === "number") return holdsNumber(value, nameOf(field), words);
  if (typeof value === "boolean") return holdsTruth(value, about, words);
  if (value === null || value.trim() === "") return false;
  if (options !== null) return holdsChoice(value, words);
  return isDate(value) ? holdsDates(value, words) : holdsText(value, words, isJudged);
}

const FEWEST_LETTERS_ALONE = 4;

/** Finds the sentence that holds a value without a quote: the only one for a number, the first for a date or a name. */
function holderAnywhere(field: FieldValue, { units, row }: Document): Located | null {
  const { value, options } = field;
  if (typeof value === "number") {
    if (Number.isInteger(value) && Math.abs(value) < 10) return null;
    const [only, ...others] = units.filter(({ words }) => holdsValue(field, words));
    return others.length === 0 ? (only ?? null) : null;
  }
  if (typeof value !== "string" || options !== null) return null;
  if (isDate(value)) return units.find(({ words }) => holdsValue(field, words)) ?? null;
  const wanted = rowOf(value);
  const letters = value.replace(/[^\p{L}\p{N}]/gu, "").length;
  if (letters < FEWEST_LETTERS_ALONE || !row.includes(wanted)) return null;
  return units.find(({ quote }) => rowOf(quote).includes(wanted)) ?? null;
}

/**
 * Checks whether a field is bound to a figure with the wrong label: another figure's label fits the field's name better, or its
 * own label names another field or something else, such as a total bound to "VAT 20 % 149.32". Only for numbers and dates
 * outside lists.
 */
function labelCheck(
  values: readonly FieldValue[],
  { units }: Document,
): (field: FieldValue, words: Located) => boolean {
  const read = figureReader();
  const figuresIn = ({ words }: Unit) => read(words.text, words.language);
  const figures = once(() => {
    const all = units.filter(({ quote }) => /\p{N}/u.test(quote)).map(figuresIn);
    return {
      date: byLabel(all.flatMap(({ date }) => date)),
      number: byLabel(all.flatMap(({ number }) => number)),
    };
  });
  const names = new Map(values.map((field) => [nameOf(field), readFieldName(nameOf(field))]));
  /** The words of the field's name, or of its description where no label fits the name. */
  const wordsFor = (field: FieldValue, type: FigureType): Label => {
    const name = names.get(nameOf(field)) ?? [];
    const isMet = [...figures()[type].keys()].some((label) => meetsName(label, name) > 0);
    return isMet ? name : readFieldName(field.about);
  };
  return (field, { span }) => {
    const type = figureTypeOf(field);
    const unit = units[firstBehind(units, span)];
    if (type === null || unit === undefined || !isWithin(unit, span)) return false;
    if (field.isInList) return false;
    const { language, years } = unit.words;
    const isHolder = ({ text }: LabelledFigure): boolean =>
      holdsValue(field, quotedWords({ text, language, years }));
    const own = figuresIn(unit)[type].filter(isHolder);
    const best = (name: Label): number =>
      Math.max(0, ...own.map(({ label }) => meetsName(label, name)));
    const name = wordsFor(field, type);
    const met = best(name);
    const isOthers = (): boolean =>
      [...names].some(([other, words]) => other !== nameOf(field) && best(words) > 0) ||
      (own.length > 0 && own.every(({ label }) => meansOther(label, name)));
    if (met === 0 && isOthers()) return true;
    return [...figures()[type]].some(
      ([label, ofLabel]) => meetsName(label, name) > met && !ofLabel.some(isHolder),
    );
  };
}

/** Limit of figures with one label: a label with more is the column of a table. */
const MOST_OF_A_LABEL = 20;

function byLabel(
  figures: readonly LabelledFigure[],
): ReadonlyMap<Label, readonly LabelledFigure[]> {
  const found = new Map<Label, LabelledFigure[]>();
  for (const figure of figures) {
    const known = found.get(figure.label);
    if (known === undefined) found.set(figure.label, [figure]);
    else if (known.length < MOST_OF_A_LABEL) known.push(figure);
  }
  return found;
}

/** The name of a field, also of one in a list: "tags" of `/tags/0`. */
const nameOf = ({ pointer }: FieldValue): string =>
  unescapePointer(pointer.split("/").findLast((name) => !/^\d*$/.test(name)) ?? "");
