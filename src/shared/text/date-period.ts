import { MONTH_NAME, monthOf } from "./month-names.ts";

export type Period = { readonly from: string; readonly to: string };

/**
 * The days of a normalised date: `2025`, `2025-H1`, `2025-Q3`, `2025-03` or `2025-03-14`.
 * @returns null for a day or a month that does not exist
 */
export function periodOf(date: string): Period | null {
  const match = /^(\d{4})(?:-(?:Q([1-4])|H([12])|(\d{2})(?:-(\d{2}))?))?$/.exec(date);
  if (match === null) return null;
  const [, year = "", quarter, half, month, day] = match;
  if (quarter !== undefined) return monthsOf(year, 3 * Number(quarter) - 2, 3 * Number(quarter));
  if (half !== undefined) return monthsOf(year, 6 * Number(half) - 5, 6 * Number(half));
  if (month === undefined) return monthsOf(year, 1, 12);
  if (day === undefined) return monthsOf(year, Number(month), Number(month));
  return isDay(date) ? { from: date, to: date } : null;
}

function monthsOf(year: string, first: number, last: number): Period | null {
  if (first < 1 || last > 12) return null;
  return {
    from: `${year}-${two(first)}-01`,
    to: `${year}-${two(last)}-${two(new Date(Date.UTC(Number(year), last, 0)).getUTCDate())}`,
  };
}

/** Whether a day exists in the calendar: 2025-02-30 does not. */
export function isDay(day: string): boolean {
  const time = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(day);
}

const two = (value: number): string => String(value).padStart(2, "0");

/** A date in the format of `periodOf`, and its text as written. */
export type WrittenDate = { readonly date: string; readonly text: string };

const YEAR = String.raw`(?<year>(?:19|20)\d\d)`;
const GAP = String.raw`[-_.,\/ \u00A0]{0,2}`;
const NAMED_MONTH = String.raw`(?<!\p{L})(?<name>${MONTH_NAME})(?!\p{L})\.?`;

type Reading = (groups: Readonly<Record<string, string | undefined>>) => string | null;

/** A quick test for what every shape contains. */
const MAYBE_YEAR = /(?:19|20)\d\d/;

/** The first shape that matches names the date. Every pattern is bounded. */
const SHAPES: readonly (readonly [RegExp, Reading])[] = [
  [
    patternOf(
      String.raw`(?<!\d)${YEAR}(?<gap>[-_. \/]?)(?<month>0[1-9]|1[0-2])\k<gap>(?<day>0[1-9]|[12]\d|3[01])(?!\d)`,
    ),
    ({ year, month, day }) => `${year}-${month}-${day}`,
  ],
  [
    patternOf(String.raw`(?<!\d)(?<day>\d{1,2})\.(?<month>\d{1,2})\.${YEAR}(?!\d)`),
    ({ year, month = "", day = "" }) => `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`,
  ],
  [
    patternOf(
      String.raw`(?<!\d)(?<day>\d{1,2})(?:st|nd|rd|th|er|\.)?${GAP}(?:(?:of|de)[ _-])?${NAMED_MONTH}${GAP}(?:del?[ _-])?${YEAR}(?!\d)`,
    ),
    namedMonth,
  ],
  [
    patternOf(
      String.raw`${NAMED_MONTH}${GAP}(?<day>\d{1,2})(?:st|nd|rd|th)?[-_., ]{1,2}${YEAR}(?!\d)`,
    ),
    namedMonth,
  ],
  [patternOf(String.raw`${NAMED_MONTH}${GAP}(?:del?[ _-])?${YEAR}(?!\d)`), namedMonth],
  [patternOf(String.raw`(?<!\d)${YEAR}${GAP}${NAMED_MONTH}(?!${GAP}\d)`), namedMonth],
  [
    patternOf(
      String.raw`(?<![\p{L}\d])(?:[qt](?<part>[1-4])|(?<other>[1-4])[.]?[ _-]?(?:q|t|quartal|trimestre|quarter|(?:st|nd|rd|th)[ _-]quarter))${GAP}${YEAR}(?!\d)`,
    ),
    ({ year, part, other }) => `${year}-Q${part ?? other}`,
  ],
  [
    patternOf(
      String.raw`(?<!\d)${YEAR}${GAP}(?:[qt](?<part>[1-4])|(?<other>[1-4])[.]?[ _-]?(?:quartal|trimestre|quarter))(?![\p{L}\d])`,
    ),
    ({ year, part, other }) => `${year}-Q${part ?? other}`,
  ],
  [
    patternOf(String.raw`(?<![\p{L}\d])h(?<part>[12])${GAP}${YEAR}(?!\d)`),
    ({ year, part }) => `${year}-H${part}`,
  ],
  [
    patternOf(String.raw`(?<!\d)${YEAR}${GAP}h(?<part>[12])(?![\p{L}\d])`),
    ({ year, part }) => `${year}-H${part}`,
  ],
  [patternOf(String.raw`${YEAR}年(?<month>\d{1,2})月(?:(?<day>\d{1,2})日)?`), numberedMonth],
  [patternOf(String.raw`(?<!\d)${YEAR}[-_. \/]?(?<month>0[1-9]|1[0-2])(?!\d)`), numberedMonth],
  [patternOf(String.raw`(?<!\d)${YEAR}(?!\d)`), ({ year = "" }) => year],
];

function patternOf(source: string): RegExp {
  return new RegExp(source, "iu");
}

function namedMonth({ year, name = "", day }: Parameters<Reading>[0]): string | null {
  const month = monthOf(name);
  return month === 0 ? null : numberedMonth({ year, month: String(month), day });
}

function numberedMonth({ year, month = "", day }: Parameters<Reading>[0]): string {
  const inMonth = `${year}-${month.padStart(2, "0")}`;
  return day === undefined ? inMonth : `${inMonth}-${day.padStart(2, "0")}`;
}

/**
 * The date in a short text, such as a file name or a title, in English, German, French, Spanish or Japanese: the first shape,
 * from the most exact on, with a date of the calendar. Null without a date, or with a day and a month only.
 */
export function findWrittenDate(text: string): WrittenDate | null {
  if (!MAYBE_YEAR.test(text)) return null;
  for (const [pattern, read] of SHAPES) {
    const match = pattern.exec(text);
    if (match === null) continue;
    const date = read(match.groups ?? {});
    if (date !== null && periodOf(date) !== null) return { date, text: match[0] };
  }
  return null;
}

/**
 * Compares two dates: -1 if the first is earlier, 1 if it is later, 0 if they are equal; null if they overlap, as a year and a
 * month in it do.
 */
export function compareDates(one: string | null, other: string | null): number | null {
  const [first, second] = [one, other].map((date) => (date === null ? null : periodOf(date)));
  return comparePeriods(first ?? null, second ?? null);
}

/** The same for two spans of days; overlapping ones give null. */
function comparePeriods(one: Period | null, other: Period | null): number | null {
  if (one === null || other === null) return null;
  if (one.to < other.from) return -1;
  if (other.to < one.from) return 1;
  return one.from === other.from && one.to === other.to ? 0 : null;
}
