import { once } from "../../../shared/once.ts";
import { mergeByKey } from "../../../shared/text/word-lists.ts";
import { findDates } from "./dates.ts";
import type { TextSpan } from "../spans.ts";
import { withoutSpans } from "../clean-text.ts";
import { findCodes } from "./codes.ts";
import { findCalendarWords } from "./calendar.ts";
import { currencyBefore, measureAt } from "./measures.ts";
import type { Measure } from "./measures.ts";
import { nounAfter, nounBefore, precisionAt, rateAfter } from "./figure-words.ts";
import type { Precision } from "./figure-words.ts";
import { findSpelledNumbers } from "./number-words.ts";
import { withDigits } from "./digits-for-words.ts";
import { isScaled, scaledNumbers } from "./scaled-numbers.ts";
import type { UnitLanguage } from "../detect-language.ts";

/**
 * A figure of a claim or a unit. Another figure supports it if it offers one of the readings in `asks`: `q:time:4500` (a value
 * in the base unit of its dimension), `n:28` (bare), `c:28` (counts a noun), `v:28` (of some measure), `d:2024-05-03`,
 * `m:05-03`, `y:2024-05`, `M:05` (a month), `t:18:30`, `w:2` (a Tuesday).
 */
export type ClaimFigure = TextSpan & {
  readonly kind: "number" | "date";
  readonly text: string;
  readonly asks: readonly string[];
  readonly offers: readonly string[];
  /** For a number: its value in the base unit of its measure. */
  readonly base: number;
  readonly measure: Measure | null;
  /** Its divisor, if that is a measure: per month. */
  readonly rate: string | null;
  /** Its divisor as a folded word: per nest. */
  readonly per: string | null;
  /** `counted`: the noun that it counts; `label`: the noun that it numbers ("kiln 2"). */
  readonly counted: string | null;
  readonly label: string | null;
  readonly precision: Precision;
  /** True for "one", ordinals and shares in words, which need no support. */
  readonly isSoft: boolean;
};

/** The figures of a text in order. Linear. */
export function readFigures(spelled: string, language: UnitLanguage | null): ClaimFigure[] {
  const text = withDigits(spelled);
  const found = (/\d/.test(text) ? findDates(text) : []).map((date) =>
    // A time in words may mean either half of the day.
    /[\d０-９]/u.test(spelled.slice(date.start, date.end))
      ? date
      : { ...date, offers: date.asks.flat() },
  );
  const words = findCalendarWords(text).filter((word) => !overlapsAny(word, found));
  const calendar = [...found, ...words]
    .map((date) => durationAt(date, text) ?? dateFigure(date, text))
    .sort(byStart);
  const divisors = findDivisors(withoutSpans(text, calendar), language);
  const codes = findCodes(withoutSpans(text, [...calendar, ...divisors].sort(byStart))).filter(
    ({ start, end }) => !isScaled(text, start, end),
  );
  const masked = withoutSpans(text, [...calendar, ...codes].sort(byStart));
  const parts = [...findParts(masked, language), ...divisors].sort(byStart);
  const rest = withoutSpans(masked, parts);
  const read = readNumbers(rest, text, language).map((figure) => withTime(figure, text));
  const numbers = joinFigures([...read, ...parts].sort(byStart), text);
  const firsts = firstDays(calendar, numbers, text);
  const others = numbers.filter(({ start }) => !firsts.some((first) => first.start === start));
  return [...calendar, ...firsts, ...others].sort(byStart);
}

const HOURS_AND_MINUTES = /^(\d{1,2})[ \u00A0\u202F]?(?:h|heures?)[ \u00A0\u202F]?([0-5]\d)$/iu;

/** "1 h 15" is a time of day, or an hour and a quarter; with "min" behind it the latter. */
function durationAt(date: Dated, text: string): ClaimFigure | null {
  const [, hours, minutes] = HOURS_AND_MINUTES.exec(text.slice(date.start, date.end)) ?? [];
  if (hours === undefined || minutes === undefined) return null;
  const base = Number(hours) * 3_600 + Number(minutes) * 60;
  const behind = /^[ \u00A0]?min(?:utes?|uten|utos?)?(?!\p{L})/iu.exec(
    text.slice(date.end, date.end + 10),
  );
  const measure = { dimension: "time", factor: 1 };
  const span = { start: date.start, end: date.end + (behind?.[0].length ?? 0) };
  const time = behind === null ? dateFigure(date, text) : { asks: [], offers: [] };
  const reading = `q:time:${base}`;
  return {
    ...NO_DETAILS,
    ...span,
    kind: "number",
    text: text.slice(span.start, span.end),
    asks: [reading, ...time.asks],
    offers: [reading, ...time.offers],
    base,
    measure,
  };
}

/** "At 1410" may be ten past two. */
function withTime(figure: ClaimFigure, text: string): ClaimFigure {
  const [, hours, minutes] = /^([01]\d|2[0-3])([0-5]\d)$/.exec(figure.text) ?? [];
  const before = text.slice(Math.max(0, figure.start - 8), figure.start);
  if (
    hours === undefined ||
    !/(?<!\p{L})(?:at|by|until|till|um|ab|bis|gegen)[ \u00A0]$/iu.test(before)
  )
    return figure;
  return { ...figure, offers: [...figure.offers, `t:${hours}:${minutes ?? ""}`] };
}

/** Whether a span shares a character with one of others. */
export const overlapsAny = (span: TextSpan, others: readonly TextSpan[]): boolean =>
  others.some(({ start, end }) => start < span.end && span.start < end);

const byStart = (one: TextSpan, other: TextSpan): number => one.start - other.start;

const NO_DETAILS = {
  base: Number.NaN,
  measure: null,
  rate: null,
  per: null,
  counted: null,
  label: null,
  precision: "exact",
  isSoft: false,
} as const;

type Dated = TextSpan & {
  readonly offers: readonly string[];
  readonly asks: readonly (readonly string[])[];
};

function dateFigure({ start, end, offers, asks }: Dated, text: string): ClaimFigure {
  const months = offers
    .filter((offer) => offer.startsWith("y:"))
    .map((offer) => `M:${offer.slice(7)}`);
  const full = offers.some((offer) => offer.startsWith("d:"));
  const asked = [
    ...asks.flatMap((readings) => readings.slice(0, 1).filter((one) => !one.startsWith("n:"))),
    ...(full ? [] : months),
  ];
  return {
    ...NO_DETAILS,
    kind: "date",
    start,
    end,
    text: text.slice(start, end),
    asks: asked,
    offers: [...new Set([...offers, ...offers.flatMap(impliedBy)])],
  };
}

/** Readings that a reading implies: year, month, and day of the week. */
function impliedBy(reading: string): string[] {
  const [kind, value] = [reading.slice(0, 1), reading.slice(2)];
  if (kind === "y") return [`n:${value.slice(0, 4)}`, `M:${value.slice(5)}`];
  if (kind === "m") return [`M:${value.slice(0, 2)}`];
  if (kind !== "d") return [];
  const weekday = new Date(`${value}T00:00:00Z`).getUTCDay();
  return Number.isNaN(weekday) ? [] : [`w:${weekday === 0 ? 7 : weekday}`];
}

const RANGE =
  /^(?:st|nd|rd|th|er|\.)?[ \u00A0]{0,2}(?:–|-|—|to|and|until|through|bis|und|au|et|al?|y|e)[ \u00A0]{0,2}(?:the |zum |el |le )?$/u;

/** "3. bis 10. August" is two days of August. */
function firstDays(
  dates: readonly ClaimFigure[],
  numbers: readonly ClaimFigure[],
  text: string,
): ClaimFigure[] {
  return dates.flatMap((date) => {
    const first = numbers.findLast(({ end }) => end <= date.start && end > date.start - 16);
    const month = date.offers.find((offer) => offer.startsWith("m:"));
    if (first === undefined || month === undefined || first.measure !== null) return [];
    if (!Number.isInteger(first.base) || first.base < 1 || first.base > 31) return [];
    if (!RANGE.test(text.slice(first.end, date.start))) return [];
    const day = String(first.base).padStart(2, "0");
    const full = date.offers.find((offer) => offer.startsWith("d:"));
    const offers = [
      `m:${month.slice(2, 4)}-${day}`,
      ...(full === undefined ? [] : [`${full.slice(0, 10)}${day}`]),
    ];
    return [
      dateFigure({ start: first.start, end: first.end, offers, asks: [offers.slice(0, 1)] }, text),
    ];
  });
}

/** Shares and halves in words, with the dimension and the value of each. Behind "à" an hour and a half is a time of day. */
const parts = once(() =>
  [...mergeByKey(({ shares }) => shares)].map(([key, phrases]) => {
    const [dimension = "", value] = key.split(":");
    const longestFirst = phrases.toSorted((one, other) => other.length - one.length);
    const spelled = longestFirst.map((phrase) =>
      phrase
        .replace(/ \((\p{L}+)\)$/u, "(?= $1)")
        .replaceAll(" ", "[- ]")
        .replace("'", "['’]"),
    );
    const isHourAndHalf = key === "time:5400";
    const pattern = `${isHourAndHalf ? "(?<!(?:à|vers|dès|una) )" : ""}(?<!\\p{L}(?=half))(?:${spelled.join("|")})`;
    return { pattern: new RegExp(pattern, "giu"), dimension, base: Number(value) };
  }),
);

/** "40 CFU/100 ml" is per 100 ml. */
const DIVISOR = /(?<=\p{L}\/)\d{1,4}(?=[ \u00A0]?(?:ml|l|g|kg|km|m|cm|h)(?!\p{L}))/gu;
const findDivisors = (text: string, language: UnitLanguage | null): ClaimFigure[] =>
  [...text.matchAll(DIVISOR)].map(({ 0: spelled, index }) =>
    numberFigure({
      start: index,
      end: index + spelled.length,
      value: Number(spelled),
      text,
      language,
    }),
  );

function findParts(text: string, language: UnitLanguage | null): ClaimFigure[] {
  if (!MAYBE_PART.test(text)) return [];
  return parts().reduce<ClaimFigure[]>((found, { pattern, dimension, base }) => {
    for (const { 0: spelled, index } of text.matchAll(pattern)) {
      const end = index + spelled.length;
      if (found.some((other) => other.start < end && index < other.end)) continue;
      const measure = { dimension, factor: 1 };
      found.push(
        numberFigure({
          start: index,
          end,
          value: base,
          measure,
          text,
          language,
          isSoft: dimension === "percent",
        }),
      );
    }
    return found;
  }, []);
}
const MAYBE_PART =
  /half|halb|hälfte|quart|viertel|third|drittel|fifth|tenth|fünftel|zehntel|demi|tiers|dixi|cinqu|moiti|medi|cuart|terci|mitad|quinto|décim|半|分の/iu;

function readNumbers(rest: string, text: string, language: UnitLanguage | null): ClaimFigure[] {
  const digits = scaledNumbers(rest, text, language).map((one) =>
    numberFigure({ ...one, text, language }),
  );
  const blanked = withoutSpans(rest, digits);
  const articles = [...blanked.matchAll(ARTICLE)].flatMap(
    ({ 0: article, index }): ClaimFigure[] => {
      const end = index + article.length;
      const isRate = /[\d%€£$][^.;]{0,12}$|(?:once|twice|times) $/u.test(
        text.slice(Math.max(0, index - 14), index),
      );
      return isRate
        ? []
        : [numberFigure({ start: index, end, value: 1, text, language, isSoft: true })];
    },
  );
  const words = findSpelledNumbers(blanked, language).map(({ start, end, value, isSoft }) =>
    numberFigure({ start, end, value, text, language, isSoft }),
  );
  return [...digits, ...words, ...(language === "english" ? articles : [])].sort(byStart);
}

/** "an hour and 43 minutes" */
const ARTICLE = /(?<!\p{L})an?(?= (?:second|minute|hour|day|week|month|year)(?!\p{L}))/giu;

type Stated = TextSpan & {
  readonly value: number;
  readonly text: string;
  readonly language: UnitLanguage | null;
  readonly measure?: Measure;
  readonly others?: readonly number[];
  readonly isSoft?: boolean;
};

const UNIT_GAP =
  /^(?:[ \u00A0\u202F](?:(?:working|business|full|whole|calendar|school|consecutive|successive|further|additional|extra|volle[nrs]?|ganze[nrs]?|weitere[nrs]?|aufeinanderfolgende[nr]?|longs?|longues?|largos|largas|buenos|buenas) |d['’]|de )?|-odd |-(?=\p{L}{3}))?/u;
const YEAR = /^(?:1[5-9]|20|21)\d\d$/;

function numberFigure({ start, end, value, text, language, ...rest }: Stated): ClaimFigure {
  const after = text.slice(end, end + 40);
  const gap = UNIT_GAP.exec(after)?.[0].length ?? 0;
  const before =
    rest.measure === undefined ? currencyBefore(text.slice(Math.max(0, start - 6), start)) : null;
  const isOpen = rest.measure === undefined && before === null;
  const behind = isOpen
    ? (measureAt(after.slice(gap)) ?? measureOfKey(text.slice(Math.max(0, start - 24), start)))
    : null;
  const isDozen = behind?.dimension === "dozen";
  const measure = rest.measure ?? before ?? (isDozen ? null : behind);
  const factor = isDozen ? 12 : (measure?.factor ?? 1);
  const unitEnd = end + (behind === null || behind.length === 0 ? 0 : gap + behind.length);
  const isYear = measure === null && YEAR.test(text.slice(start, end));
  const counted =
    measure === null && !isYear ? nounAfter(text.slice(unitEnd, unitEnd + 40), language) : null;
  const base = round(value * factor);
  const readings = [value, ...(rest.others ?? [])];
  return {
    kind: "number",
    start,
    end: unitEnd,
    text: text.slice(before === null ? start : Math.max(0, start - 1), unitEnd),
    ...readingsOf(readings, measure, { factor, isCounted: counted !== null }),
    base,
    measure: measure === null ? null : { dimension: measure.dimension, factor: measure.factor },
    ...rateAfter(text.slice(unitEnd, unitEnd + 40)),
    counted,
    label:
      measure === null && counted === null
        ? nounBefore(text.slice(Math.max(0, start - 32), start))
        : null,
    precision: precisionAt(
      text.slice(Math.max(0, start - 32), before === null ? start : Math.max(0, start - 1)),
      after,
    ),
    isSoft: rest.isSoft ?? false,
  };
}

const KEY = /_(?<unit>[a-z]{1,3}|[kM]?[BWVgm])[`"']?\s{0,2}[:=|]\s{0,2}$/u;

/** `weight_g: 31500` */
function measureOfKey(before: string): (Measure & { readonly length: number }) | null {
  const unit = KEY.exec(before)?.groups?.["unit"] ?? "";
  const measure = measureAt(unit);
  return measure?.length === unit.length ? { ...measure, length: 0 } : null;
}

/** Rounds to seven digits, so that a converted value equals a stated one. */
const round = (value: number): number => Number(value.toPrecision(7));

function readingsOf(
  values: readonly number[],
  measure: Measure | null,
  { factor, isCounted }: { readonly factor: number; readonly isCounted: boolean },
): Pick<ClaimFigure, "asks" | "offers"> {
  if (measure === null) {
    const bare = values.map((value) => round(value * factor));
    return {
      asks: bare.flatMap((value) => [
        `n:${value}`,
        `c:${value}`,
        ...(isCounted ? [] : [`v:${value}`]),
      ]),
      offers: bare.map((value) => (isCounted ? `c:${value}` : `n:${value}`)),
    };
  }
  const based = values.map((value) => `q:${measure.dimension}:${round(value * factor)}`);
  return {
    asks: [...based, ...values.map((value) => `n:${round(value)}`)],
    offers: [...based, ...values.map((value) => `v:${round(value)}`)],
  };
}

const AND_HALF = /^ (?:and a half|et demie?|y media|y medio)(?!\p{L})|^半/u;
const AND_QUARTER = /^ (?:and a quarter|et quart|y cuarto)(?!\p{L})/u;
const BETWEEN_PARTS = /^[ ,\u00A0\u202F]{0,2}(?:(?:and|und|et|y|con|e) )?$/u;
const BETWEEN_VALUES =
  /^[ \u00A0]{0,2}(?:–|-|—|to|and|or|bis|und|oder|à|et|ou|a|y|o|\/|から|〜|~|instead of|statt|au lieu de|en vez de|up to|auf)[ \u00A0]{0,2}$/u;

/** "84 × 52 cm" is two lengths; "60 × 45 s" is a count of times. */
const BETWEEN_SIDES = /^[ \u00A0]{0,2}(?:×|x|by)[ \u00A0]{0,2}$/u;

const isShared = (between: string, { measure }: ClaimFigure): boolean =>
  BETWEEN_VALUES.test(between.replace(/[€£$]$/u, "")) ||
  (measure?.dimension === "length" && BETWEEN_SIDES.test(between));

/** Whether a value rounds to a figure at its last digit. A final 5 counts as rounded to fives, a lone 1 as rounded to halves. */
export function roundsTo({ base, measure }: ClaimFigure, value: number): boolean {
  const factor = measure?.factor ?? 1;
  const [digits = "", exponent = "0"] = round(Math.abs(base / factor))
    .toExponential()
    .split("e");
  const place = 10 ** (Number(exponent) - digits.replace(".", "").length + 1);
  const step = digits.endsWith("5") ? 5 : digits === "1" ? 0.5 : 1;
  return Math.abs(value - base) <= (step * place * factor) / 2;
}

/** Joins "1 h 20 min" into one figure, and gives the 70 of "70 to 90 minutes" its unit. */
function joinFigures(all: readonly ClaimFigure[], text: string): ClaimFigure[] {
  const joined: ClaimFigure[] = [];
  for (const figure of all) {
    const last = joined.at(-1);
    const next = withHalf(figure, text);
    const sum = last === undefined ? null : durationOf(last, next, text);
    if (sum !== null) joined.splice(-1, 1, sum);
    else joined.push(next);
  }
  for (let at = joined.length - 2; at >= 0; at -= 1) {
    const [one, next] = [joined[at], joined[at + 1]];
    if (one === undefined || next === undefined) continue;
    if (!isShared(text.slice(one.end, next.start), next)) continue;
    if (one.measure === null && one.counted === null && next.measure !== null) {
      joined[at] = withMeasure(one, next.measure, next.rate);
    } else if (one.measure === null && one.counted === null && next.counted !== null) {
      joined[at] = { ...one, counted: next.counted };
    } else if (next.measure === null && next.counted === null && one.measure !== null) {
      joined[at + 1] = withMeasure(next, one.measure, one.rate);
    }
  }
  return joined;
}

function withMeasure(figure: ClaimFigure, measure: Measure, rate: string | null): ClaimFigure {
  const { factor } = measure;
  const readings = readingsOf([figure.base], measure, { factor, isCounted: false });
  return {
    ...figure,
    ...readings,
    measure,
    rate: figure.rate ?? rate,
    base: round(figure.base * factor),
  };
}

function withHalf(figure: ClaimFigure, text: string): ClaimFigure {
  const after = text.slice(figure.end, figure.end + 16);
  const half = AND_HALF.exec(after) ?? AND_QUARTER.exec(after);
  if (half === null || figure.kind === "date") return figure;
  const share = AND_HALF.test(after) ? 0.5 : 0.25;
  const length = half[0].length;
  const behind = measureAt(text.slice(figure.end + length).trimStart());
  const measure = figure.measure ?? behind;
  const factor = measure?.factor ?? 1;
  const value = (figure.measure === null ? figure.base : figure.base / factor) + share;
  return {
    ...figure,
    ...readingsOf([value], measure, { factor, isCounted: false }),
    measure,
    base: round(value * factor),
    end: figure.end + length + (figure.measure === null && behind !== null ? behind.length + 1 : 0),
    isSoft: false,
  };
}

function durationOf(one: ClaimFigure, next: ClaimFigure, text: string): ClaimFigure | null {
  if (one.measure?.dimension !== "time" || one.kind === "date") return null;
  if (!BETWEEN_PARTS.test(text.slice(one.end, next.start))) return null;
  const isBare =
    one.measure.factor === 3_600 && next.measure === null && next.end - next.start === 2;
  const factor = isBare ? 60 : next.measure?.dimension === "time" ? next.measure.factor : 0;
  if (factor === 0 || factor >= one.measure.factor) return null;
  const base = one.base + (isBare ? next.base * 60 : next.base);
  const measure = { dimension: "time", factor: 1 };
  const readings = readingsOf([base], measure, { factor: 1, isCounted: false });
  return {
    ...one,
    ...readings,
    measure,
    base,
    end: next.end,
    text: text.slice(one.start, next.end),
    isSoft: false,
  };
}
