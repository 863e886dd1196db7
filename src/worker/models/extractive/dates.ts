import { once } from "../../../shared/once.ts";
import { MONTH_NAME } from "../../../shared/text/month-names.ts";
import { anyOf, namesInOrder } from "../../../shared/text/word-lists.ts";
import { firstCodePoints } from "../../text/clean-text.ts";
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

/** Days and months, and no times of day. */
const isDay = ({ asks }: Figure): boolean => /^[dm]:/.test(asks[0]?.[0] ?? "");
const isMonth = ({ asks }: Figure): boolean => asks[0]?.[0]?.startsWith("y:") === true;

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
    /** A weekday before the date: "by Friday, 8 May". */
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
    // Behind a word that sets a limit, weekdays and similar words are dates too.
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
    quote: firstCodePoints(sentence, MOST_QUOTE_CHARS),
    date,
    what: firstCodePoints(mark === "row" ? inOneLine(sentence) : sentence, MOST_WHAT_CHARS),
  }));

const inOneLine = (row: string): string =>
  cellTexts(row)
    .filter((cell) => cell !== "")
    .join(", ");
