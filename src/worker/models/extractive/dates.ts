import { once } from "../../../shared/once.ts";
import { MONTH_NAME } from "../../../shared/text/month-names.ts";
import { anyOf, namesInOrder } from "../../../shared/text/word-lists.ts";
import { findDates as readDates } from "../../text/figures/dates.ts";
import type { Figure } from "../../text/figures/numbers.ts";
import { cellTexts } from "../../text/table-cells.ts";
import type { EvidenceBlock } from "../model.ts";
import {
  addressesTheSorter,
  MOST_QUOTE_CHARS,
  parseDocument,
  sentencesOf,
} from "./document-items.ts";
import type { DocumentItem } from "./document-items.ts";

const MONTH =
  "(?:Jan(?:uary|uar)?|Feb(?:ruary|ruar)?|März|Mar(?:ch)?|Apr(?:il)?|Ma[yi]|June?|Juni|July?|Juli|Aug(?:ust)?|Sept?(?:ember)?|O[ck]t(?:ober)?|Nov(?:ember)?|De[cz](?:ember)?)";
/** In lower case, as French and Spanish write them. */
const FRENCH_MONTH =
  "(?:janvier|janv|février|févr|mars|avril|avr|mai|juin|juillet|juil|août|septembre|sept|octobre|oct|novembre|nov|décembre|déc)";
const SPANISH_MONTH =
  "(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|diciembre)";
const DAY = String.raw`(?<![\p{N}.,:])\d{1,2}(?:st|nd|rd|th|\.)?`;
const YEAR = String.raw`(?:,? (?:19|20)\d\d(?!\p{N}))?`;

const DAY_NUMBER = String.raw`(?:0?[1-9]|[12]\d|3[01])`;
const MONTH_NUMBER = String.raw`(?:0?[1-9]|1[0-2])`;

/** Days as English, German, French and Spanish write them, with a year or without. Every repeat is bounded. */
const WRITTEN = [
  String.raw`(?<![\p{N}-])(?:19|20)\d\d-\d\d-\d\d(?![\p{N}-])`,
  String.raw`${DAY} (?:of )?${MONTH}(?!\p{L})\.?${YEAR}`,
  String.raw`(?<![\p{N}.,-])${DAY_NUMBER}-${MONTH}-(?:(?:19|20)\d\d|\d\d)(?![\p{N}-])`,
  String.raw`(?<![\p{N}.,:])(?:1er|${DAY_NUMBER}) ${FRENCH_MONTH}(?!\p{L})(?: (?:19|20)\d\d(?!\p{N}))?`,
  String.raw`(?<![\p{N}.,:])(?:1º|1ro|${DAY_NUMBER}) de ${SPANISH_MONTH}(?!\p{L})(?: (?:de|del) (?:19|20)\d\d(?!\p{N}))?`,
  String.raw`(?<!\p{L})${MONTH}\.? \d{1,2}(?:st|nd|rd|th)?(?![\p{N}:])${YEAR}`,
  String.raw`(?<![\p{N}.])${DAY_NUMBER}\.${MONTH_NUMBER}\.(?:(?:19|20)\d\d|\d\d)(?!\p{N})`,
  // A German date without a year, only behind a word that precedes a day: "15.10." alone may be a price at the end of a sentence.
  String.raw`(?<=(?<!\p{L})(?:am|vom|zum|bis|ab|seit|dem|den|der|und|vor|nach) |[–-] ?)${DAY_NUMBER}\.${MONTH_NUMBER}\.(?!\p{N})`,
  String.raw`(?<![\p{N}/])\d{1,2}/\d{1,2}/(?:19|20)\d\d(?![\p{N}/])`,
].join("|");

const WEEKDAY =
  "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonntag";
const NEAR = String.raw`(?:the )?(?:end|middle|beginning) of (?:the )?(?:${MONTH}|month|week|year|season)|Ende (?:${MONTH}|der Woche|des Monats|des Jahres)|(?:the )?next (?:${WEEKDAY}|week|month|year|season|meeting)|nächste[nrs]? (?:${WEEKDAY}|Woche|Monat|Jahr|Sitzung)|tomorrow|tonight|morgen|heute|(?:every |each )?(?:${WEEKDAY})(?:s|(?: (?:before|after|at|um) \d{1,2}:\d\d))?|${MONTH} (?:19|20)\d\d`;

const DATE = new RegExp(WRITTEN, "gu");
/** Behind a word that sets a limit, weekdays and similar also count as dates. */
const DEADLINE = new RegExp(
  String.raw`(?<!\p{L})(?:(?:no|not) later than|by|until|before|due(?: on| by)?|deadline:?|spätestens(?: am| bis(?: zum)?)?|bis(?: zum| spätestens| zu)?|vor dem|fällig(?: am)?|Frist:?|avant|d['’]ici|au plus tard|jusqu['’]au|pour le|antes del?|hasta|a más tardar)\s(?:(?:the|dem|den|am|le|au|el) )?(?<day>(?:(?:${WEEKDAY}),? (?:the |den )?)?(?:${WRITTEN})|${NEAR})|(?<!\p{L})(?:in|im) (?<month>${MONTH} (?:19|20)\d\d)`,
  "iu",
);

/** A full stop behind a month ends the sentence; behind a German date in digits it is part of the date. */
const withoutStop = (date: string): string =>
  /\p{L}\.$/u.test(date) || /\d{4}\.$/.test(date) ? date.slice(0, -1) : date;

/** The days that a text names, as it spells them, in order. */
export const datesIn = (text: string): string[] =>
  readDates(text)
    .filter(isDay)
    .map(({ start, end }) => withoutStop(text.slice(start, end)));

const patterns = once(() => {
  const weekday = namesInOrder("days").replaceAll(/[()]/g, "");
  const near = [
    String.raw`(?:${anyOf(({ tasks }) => tasks.parts)}) (?:${anyOf(({ tasks }) => tasks.part_times)}|${MONTH_NAME}(?!\p{L}))`,
    String.raw`(?:${anyOf(({ tasks }) => tasks.next)}) (?:${weekday}|${anyOf(({ tasks }) => tasks.next_times)})`,
    anyOf(({ tasks }) => tasks.near),
    String.raw`(?:(?:${anyOf(({ tasks }) => tasks.every)}) )?(?:${weekday})(?: (?:${anyOf(({ tasks }) => tasks.at)}) \d{1,2}:\d\d)?`,
  ];
  const articles = anyOf(({ tasks }) => tasks.limit_articles);
  return {
    limit: new RegExp(
      String.raw`(?<!\p{L})(?:${anyOf(({ tasks }) => tasks.limits)})\s(?:(?:${articles}) )?`,
      "giu",
    ),
    /** What may stand before the day: "by Friday, 8 May". */
    weekday: new RegExp(String.raw`(?:(?:${weekday}),? (?:(?:${articles}) )?)?`, "iuy"),
    near: new RegExp(near.join("|"), "iuy"),
    before: new RegExp(String.raw`(?<!\p{L})(?:${anyOf(({ tasks }) => tasks.in)}) $`, "iu"),
  };
});

/** The deadline of a task as the sentence spells it; null if it sets none. */
export function deadlineIn(sentence: string): string | null {
  const { limit, weekday, near, before } = patterns();
  const dates = readDates(sentence).filter((date) => isDay(date) || isMonth(date));
  for (const { 0: words, index } of sentence.matchAll(limit)) {
    const start = index + words.length;
    const day = start + matchAt(weekday, sentence, start).length;
    const date = dates.find((one) => one.start === day || one.start === start);
    if (date !== undefined) return withoutStop(sentence.slice(start, date.end));
    // Behind a word that sets a limit, days of the week and the like are dates as well.
    const found = matchAt(near, sentence, start);
    if (found !== "") return withoutStop(found);
  }
  const month = dates.find((one) => isMonth(one) && before.test(sentence.slice(0, one.start)));
  return month === undefined ? null : withoutStop(sentence.slice(month.start, month.end));
}

function matchAt(sticky: RegExp, text: string, at: number): string {
  sticky.lastIndex = at;
  return sticky.exec(text)?.[0] ?? "";
}

type NamedDate = { readonly quote: string; readonly date: string; readonly what: string };

/** The dates in a document, each with the sentence that says what happens then. */
export function findDates(evidence: readonly EvidenceBlock[]): NamedDate[] {
  const seen = new Set<string>();
  return evidence
    .flatMap(({ text }) => parseDocument(text).items)
    .filter(({ text }) => !addressesTheSorter(text))
    .flatMap((item) => sentencesOf(item).flatMap((sentence) => datesOf(item, sentence)))
    .filter(({ date, quote }) => {
      const key = `${date} ${quote}`;
      return !seen.has(key) && seen.add(key);
    });
}

const MOST_WHAT_CHARS = 300;

const datesOf = ({ mark }: DocumentItem, sentence: string): NamedDate[] =>
  datesIn(sentence).map((date) => ({
    quote: sentence.slice(0, MOST_QUOTE_CHARS),
    date,
    what: (mark === "row" ? inOneLine(sentence) : sentence).slice(0, MOST_WHAT_CHARS),
  }));

const inOneLine = (row: string): string =>
  cellTexts(row)
    .filter((cell) => cell !== "")
    .join(", ");
