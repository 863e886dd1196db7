import { findDates } from "../../text/figures/dates.ts";
import { findNumbers } from "../../text/figures/numbers.ts";
import type { Figure } from "../../text/figures/numbers.ts";
import type { TextSpan } from "../../text/spans.ts";
import { withDigits } from "../../text/figures/digits-for-words.ts";
import { currencyBefore, measureAt } from "../../text/figures/measures.ts";
import type { Measure } from "../../text/figures/measures.ts";
import { findSpelledNumbers } from "../../text/figures/number-words.ts";
import { readTerms } from "../claims/terms.ts";
import type { ClaimLanguage, Term } from "../claims/terms.ts";
import { isDenial } from "../elided-quotes.ts";
import { once } from "../../../shared/once.ts";
import { withoutSpans } from "../../text/clean-text.ts";

type Quantity = { readonly value: number; readonly measure: Measure | null };

/** Words of a document, with their numbers, dates and terms, each computed once. */
export type QuotedWords = {
  readonly text: string;
  readonly language: ClaimLanguage | null;
  /** The years that the document names anywhere, because a day is often written without its year. */
  readonly years: ReadonlySet<string>;
  /** Numbers without those of dates and times. */
  readonly quantities: () => readonly Quantity[];
  /** Numbers with those of dates and times. */
  readonly allNumbers: () => readonly Quantity[];
  readonly dates: () => readonly Figure[];
  readonly terms: () => readonly Term[];
};

export function quotedWords({
  text,
  language,
  years,
}: Pick<QuotedWords, "text" | "language" | "years">): QuotedWords {
  const inDigits = once(() => withDigits(text));
  return {
    ...{ text, language, years },
    quantities: once(() => quantitiesIn(withoutSpans(inDigits(), findDates(inDigits())), language)),
    allNumbers: once(() => quantitiesIn(inDigits(), language)),
    dates: once(() => findDates(spellOut(inDigits()))),
    terms: once(() => readTerms(text, language)),
  };
}

/**
 * Whether words hold a number: in digits, with the separators of their language, or spelled out; with its unit where the
 * field's name has one (`duration_minutes` is not "42 hours"). A fraction also matches its per cent, and 0 a denial.
 */
export function holdsNumber(value: number, name: string, words: QuotedWords): boolean {
  const wanted = measureOfName(name);
  const isDatePart = partsOfName(name).some((part) => DATE_PART.test(part));
  const found = isDatePart ? words.allNumbers() : words.quantities();
  if (found.some((quantity) => isSame(value, quantity, wanted))) return true;
  return value === 0 && (words.text.toLowerCase().match(/[\p{L}'’]+/gu) ?? []).some(deniesAll);
}

const deniesAll = (word: string): boolean => isDenial(word.replace("’", "'")) || word === "zero";

/** "startYear", "Lieferdatum", "hora_salida"; but not "percentage", "candidates" or "hourly". */
const DATE_PART =
  /^(?:(?:year|month|date|uhr)(?!ly)\p{L}*|\p{L}*(?:year|month|day|hour|minute|jahr|monat|stunde|jour|heure|hora|fecha)(?:e?[ns])?|\p{L}*(?:datum|tag|timestamp|(?<!cen)times?|(?<!candi|man|up|vali)dates?)|ann[ée]es?|a[ñn]os?|mois|mes(?:es)?|d[ií]as?)\d*$/iu;

const partsOfName = (name: string): string[] =>
  name.replace(/(\p{Ll})(\p{Lu})/gu, "$1_$2").split(/[_\s.-]+/u);

/** The last unit in the name of a field. */
function measureOfName(name: string): Measure | null {
  for (const part of partsOfName(name).toReversed()) {
    if (part.length < 2 || AMBIGUOUS.test(part)) continue;
    for (const spelled of [part, part.toLowerCase(), part.toUpperCase()]) {
      const found = measureAt(spelled);
      if (found?.length === spelled.length) return found;
    }
  }
  return null;
}

/** Units that have another meaning in names: a minimum, an ordinal, a preposition. */
const AMBIGUOUS =
  /^(?:min|max|second|sec|to|mo|am|day|days|date|month|year|age|quarter|cent|nm|sm|mi|mn|au|us)$/i;

function isSame(
  value: number,
  { value: held, measure }: Quantity,
  wanted: Measure | null,
): boolean {
  if (measure?.dimension === "percent" && isNearly(value * 100, held)) return true;
  if (measure === null || wanted === null) return isNearly(value, held);
  return (
    measure.dimension === wanted.dimension && isNearly(value * wanted.factor, held * measure.factor)
  );
}

const isNearly = (one: number, other: number): boolean =>
  Math.abs(one - other) <= 1e-9 * Math.max(1, Math.abs(one), Math.abs(other));

/** @param text in which everything that is no quantity is replaced by spaces */
function quantitiesIn(text: string, language: ClaimLanguage | null): Quantity[] {
  const inDigits = findNumbers(text).flatMap((figure) => {
    const measure = measureAround(text, figure);
    const spelled = text.slice(figure.start, figure.end);
    return valuesOf(spelled, figure, language).map((value) => ({ value, measure }));
  });
  const inWords = findSpelledNumbers(text, language).map((figure) => ({
    value: figure.value,
    measure: measureAround(text, figure),
  }));
  return [...inDigits, ...inWords];
}

const measureAround = (text: string, { start, end }: TextSpan): Measure | null =>
  measureAt(text.slice(end, end + 40).replace(/^[ \u00A0\u202F-]/u, "")) ??
  currencyBefore(text.slice(Math.max(0, start - 8), start));

/** "1.250" is one and a quarter in English, and more than a thousand in German. */
function valuesOf(spelled: string, { asks }: Figure, language: ClaimLanguage | null): number[] {
  const read = asks.flatMap(([only = ""]) =>
    only.startsWith("n:") ? [Number(only.slice(2))] : [],
  );
  const [, whole = "", mark = "", rest = ""] = /^(\d{1,3})([.,])(\d{3})$/.exec(spelled) ?? [];
  if (mark === "" || whole === "0" || language === null) return read;
  const isThousands = (mark === ",") === (language === "english" || language === "japanese");
  const plain = Number(isThousands ? whole + rest : `${whole}.${rest}`);
  // The value that was read includes a scale behind it ("1.250 million").
  return read.some((one) => Math.abs(one) >= 100_000) ? read : [plain];
}

const WEEKDAYS =
  /\p{L}*(?:day|tag|woch)s?|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|mi[ée]rcoles|jueves|viernes|s[áa]bado|domingo|Uhr|UTC|(?<=\d)[TZ]|T(?=\d)/giu;

const MONTHS =
  "January February March April May June July August September October November December".split(
    " ",
  );

/** The fraction and the offset of a time in ISO form, which documents rarely state. */
const BEHIND_SECONDS = /(?<=\dT\d{2}:\d{2}(?::\d{2})?)(?:\.\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})?$/;

/** Writes `2026-06` as "June 2026", and `2026-06-30T18:30:00.000+02:00` without what is behind its seconds. */
const inWords = (text: string): string =>
  text
    .trim()
    .replace(BEHIND_SECONDS, "")
    .replace(/^(\d{4})-(\d{2})$/, (whole, year: string, month: string) => {
      const name = MONTHS[Number(month) - 1];
      return name === undefined ? whole : `${name} ${year}`;
    });

const MOST_DATE_CHARS = 200;

/** Whether a text is only a date or a time. */
export function isDate(value: string): boolean {
  if (value.length > MOST_DATE_CHARS) return false;
  const text = inWords(value);
  const dates = findDates(text);
  if (dates.length === 0) return false;
  return !/[\p{L}\p{N}]/u.test(
    withoutSpans(text, dates)
      .replace(/(?<=^|\P{L})[TZ](?=\P{L}|$)/gu, "")
      .replaceAll(WEEKDAYS, ""),
  );
}

/** Whether words hold each date and time of a text, in any order and wording. A missing year may be anywhere in the document. */
export function holdsDates(value: string, words: QuotedWords): boolean {
  const text = inWords(value);
  return findDates(text).every(
    (wanted) =>
      isMidnight(text, wanted) ||
      words.dates().some((date) => isSameDate(wanted, date, words.years)),
  );
}

const isMidnight = (text: string, { start, end }: Figure): boolean =>
  text.charAt(start - 1) === "T" && /^00:00/.test(text.slice(start, end));

function isSameDate({ asks }: Figure, held: Figure, years: ReadonlySet<string>): boolean {
  const offers = new Set([...held.offers, ...held.asks.flatMap((set) => set.slice(0, 1))]);
  const hasYear = held.offers.some((one) => one.startsWith("d:"));
  const wanted = asks.map(([first = ""]) => first);
  const days = wanted.filter((one) => one.startsWith("d:"));
  return (days.length > 0 ? days : wanted).some((one) => {
    if (offers.has(one)) return true;
    const [year = "", ...inYear] = one.slice(2).split("-");
    return !hasYear && years.has(year) && offers.has(`m:${inYear.join("-")}`);
  });
}

const ORDINALS: readonly (readonly [RegExp, string])[] = [
  ["first|erste[nrs]?|premier|primero", "1"],
  ["second|zweite[nrs]?", "2"],
  ["third|dritte[nrs]?", "3"],
  ["fourth|vierte[nrs]?", "4"],
  ["fifth|fünfte[nrs]?", "5"],
  ["sixth|sechste[nrs]?", "6"],
  ["seventh|siebte[nrs]?", "7"],
  ["eighth|achte[nrs]?", "8"],
  ["ninth|neunte[nrs]?", "9"],
  ["tenth|zehnte[nrs]?", "10"],
].map(([ordinals = "", day = ""]) => [
  new RegExp(`(?<!\\p{L})(?:${ordinals})(?= (?:of |de )?\\p{L}{3})`, "giu"),
  day,
]);
const RANGE =
  /(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|\.)?[ \u00A0]?(?:[-–—,&]|to|and|until|bis(?: zum)?|und|au|et|al|y)[ \u00A0]?(?=\d{1,2}(st|nd|rd|th|er|\.)?((?: of| de)?[ \u00A0]?[\p{L}]{3,10}\.?(?:,? (?:del? )?\d{4})?|\d{1,2}\.(?:\d{4})?))/giu;
const RANGE_BEHIND_MONTH = /(\p{L}{3,9}\.?) (\d{1,2})[ ]?[-–—][ ]?(\d{1,2})(,? \d{4})?/giu;

/** Writes out the days of ranges and words behind the text: "3 to 5 May", "the third of May", "May 3–5, 2026". */
function spellOut(text: string): string {
  const numbered = ORDINALS.reduce((all, [word, day]) => all.replaceAll(word, day), text);
  const firsts = [...numbered.matchAll(RANGE)].map(([, day = "", dot = "", rest = ""]) =>
    /^\d/.test(rest) ? `${day}.${rest}` : `${day}${dot === "." ? "." : ""}${rest}`,
  );
  const behind = [...numbered.matchAll(RANGE_BEHIND_MONTH)].flatMap(
    ([, month = "", one = "", other = "", year = ""]) => [
      `${month} ${one}${year}`,
      `${month} ${other}${year}`,
    ],
  );
  return [numbered, ...firsts, ...behind].join(" ; ");
}

/** Whether words hold the figures of a text, dates as dates and numbers as numbers. */
export function holdsFigures(text: string, words: QuotedWords): boolean {
  const rest = withoutSpans(text, findDates(text));
  const wanted = quantitiesIn(rest, words.language);
  return (
    holdsDates(text, words) &&
    wanted.every(
      ({ value, measure }) =>
        words.allNumbers().some((held) => isSame(value, held, measure)) ||
        (value === 1 && !/\d/.test(rest)),
    )
  );
}

/** Whether a text is the name or sign of a currency or unit that words hold in any spelling. */
export function holdsMeasure(text: string, { text: words }: QuotedWords): boolean {
  const wanted = measureAt(text.trim());
  if (wanted === null || wanted.length !== text.trim().length) return false;
  const signs = words.matchAll(/US\$|[\p{L}µ]{1,24}[²³]?|[€£$¥%°‰]/gu);
  return [...signs].some(({ index }) => {
    const held = measureAt(words.slice(index, index + 40));
    return held?.dimension === wanted.dimension && held.factor === wanted.factor;
  });
}
