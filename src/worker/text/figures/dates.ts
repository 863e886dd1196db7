import { MONTH_NAME, monthOf } from "../../../shared/text/month-names.ts";
import type { Figure } from "./numbers.ts";

/** A comparable spelling of a date or a time: `d:2024-05-03`, `m:05-03`, `y:2024-05`, `t:18:30`. */
type DateReading = string;

/** The readings of a day, with its year or without; none if the day or month is out of range. */
function dayReadings(day: number, month: number, year: string | undefined): DateReading[] {
  if (month < 1 || month > 12 || day < 1 || day > 31) return [];
  const inYear = `m:${two(month)}-${two(day)}`;
  if (year === undefined) return [inYear];
  const full = fullYear(year);
  return [`d:${full}-${two(month)}-${two(day)}`, inYear, `y:${full}-${two(month)}`];
}

/** A year of two digits is one of this century. */
const fullYear = (year: string): string => (year.length === 2 ? `20${year}` : year);

const monthReadings = (month: number, year: string): DateReading[] => [`y:${year}-${two(month)}`];

/** A time of day on 24 hours. Without am or pm the first reading is what it says, the second what it may mean. */
function timeReadings(
  hour: number,
  minute: string | undefined,
  half: string | undefined,
): DateReading[] {
  if (hour > 24) return [];
  const at = (hours: number): string => `t:${two(hours)}:${minute ?? "00"}`;
  if (half !== undefined) return [at((hour % 12) + (half.toLowerCase() === "p" ? 12 : 0))];
  return hour >= 1 && hour < 12 ? [at(hour), at(hour + 12)] : [at(hour)];
}

const two = (value: number): string => String(value).padStart(2, "0");

type Match = RegExpExecArray;
type Reader = (match: Match) => Pick<Figure, "asks" | "offers"> | null;

const GAP = String.raw`[ \t\u00A0\u202F]{1,3}`;
const DAY = String.raw`(?<![\p{N}.,])(?<day>\d{1,2})(?:st|nd|rd|th|er|\.)?`;
const YEAR = String.raw`(?:,?${GAP}(?:del?${GAP})?(?<year>\d{4}))?(?![\p{N}])`;
const MONTH = String.raw`(?<month>${MONTH_NAME})(?![\p{L}])\.?`;

/** A text without a match names no month, and skips the slower patterns. */
const MAYBE_MONTH =
  /jan|ene|f[eé][bv]|m[aä][re]|ma[yi]|a[pvb]r|ju[nil]|ag|ao[uû]t|aug|se[pt]|o[ckt]t|nov|d[eé][cz]|dic/i;

/** Every date and time matches this. */
const MAYBE_COUNTED = /[\d元]/;

/** Patterns in order; a later one skips text that an earlier one matched. The third member is a quick test. */
const DATES: readonly (readonly [RegExp, Reader, RegExp?])[] = [
  [
    pattern(String.raw`${DAY}${GAP}(?:of${GAP}(?:the${GAP})?|de${GAP}|d['’])?${MONTH}${YEAR}`),
    readNamedDay,
    MAYBE_MONTH,
  ],
  [
    pattern(
      String.raw`(?<![\p{L}])${MONTH}${GAP}(?<day>\d{1,2})(?:st|nd|rd|th)?(?![\p{N}:])${YEAR}`,
    ),
    readNamedDay,
    MAYBE_MONTH,
  ],
  [
    pattern(String.raw`(?<![\p{L}])${MONTH},?${GAP}(?:del?${GAP})?(?<year>\d{4})(?![\p{N}])`),
    readNamedMonth,
    MAYBE_MONTH,
  ],
  // "3-May-2026", as spreadsheets and statements of account write it.
  [
    pattern(
      String.raw`(?<![\p{N}.,-])(?<day>\d{1,2})-(?<month>${MONTH_NAME})-(?<year>\d{4}|\d{2})(?![\p{N}-])`,
    ),
    readNamedDay,
    MAYBE_MONTH,
  ],
  [
    pattern(
      String.raw`(?:(?<year>\d{4})年|(?<era>令和|平成|昭和)(?<count>\d{1,2}|元)年)(?<month>\d{1,2})月(?:(?<day>\d{1,2})日)?`,
    ),
    readJapaneseDay,
    /年/,
  ],
  [pattern(String.raw`(?<![\p{N}])(?<month>\d{1,2})月(?<day>\d{1,2})日`), readDayAndMonth, /月/],
  [
    pattern(
      String.raw`(?<half>午前|午後|朝|夜)?(?<![\p{N}:])(?<hour>\d{1,2})時(?!間)(?:(?<minute>\d{1,2})分|(?<past>半))?`,
    ),
    readJapaneseTime,
    /時/,
  ],
  [
    pattern(
      String.raw`(?<![\p{N}])(?<year>\d{4})(?<mark>[\-\/.])(?<month>\d{1,2})\k<mark>(?<day>\d{1,2})(?![\p{N}])`,
    ),
    (match) => readNumericDay(match, "iso"),
  ],
  [
    pattern(
      String.raw`(?<![\p{N}.])(?<day>\d{1,2})(?<mark>[.\/\-])(?<month>\d{1,2})\k<mark>(?<year>\d{4})(?![\p{N}])`,
    ),
    (match) => readNumericDay(match, "either"),
  ],
  [
    pattern(
      String.raw`(?<![\p{N}.])(?<day>\d{2})(?<mark>[.\/])(?<month>\d{2})\k<mark>(?<year>\d{2})(?!\.?\p{N})`,
    ),
    (match) => readNumericDay(match, "either"),
  ],
  // "am 25.10." without a year: behind "am", "vom", "bis", since "5.10." alone may be a number that ends a sentence.
  [
    pattern(
      String.raw`(?<=(?<![\p{L}])(?:am|vom|zum|bis|ab|seit|den|dem)[ \u00A0])(?<day>\d{1,2})\.[ \u00A0]?(?<month>\d{1,2})\.(?![\p{N}])`,
    ),
    readDayAndMonth,
  ],
  [
    pattern(
      String.raw`(?<![\p{N}:.,])(?<hour>\d{1,2})(?:[:.](?<minute>\d{2}))?[ \u00A0]?(?<half>[ap])(?:\.m\.?|m)(?![\p{L}])`,
    ),
    readTime,
  ],
  [
    pattern(String.raw`(?<![\p{N}:])(?<hour>\d{1,2}):(?<minute>\d{2})(?::\d{2})?(?![\p{N}:])`),
    readTime,
  ],
  [
    pattern(String.raw`(?<![\p{N}:.,])(?<hour>\d{1,2})(?:[:.](?<minute>\d{2}))?[ \u00A0]Uhr`),
    readTime,
  ],
  [
    pattern(
      String.raw`(?<![\p{N}:.,])(?<hour>\d{1,2})[ \u00A0\u202F]?(?:h|heures?)[ \u00A0\u202F]?(?<minute>[0-5]\d)(?![\p{L}\p{N}])`,
    ),
    readTimeOrSpan,
  ],
];

/** The dates and times of a text. Every pattern is bounded. */
export function findDates(text: string): Figure[] {
  if (!MAYBE_COUNTED.test(text)) return [];
  let taken: Figure[] = [];
  for (const [regexp, read, needed] of DATES) {
    if (needed?.test(text) === false) continue;
    const found = [...text.matchAll(regexp)].flatMap((match): Figure[] => {
      const readings = read(match);
      const span = { start: match.index, end: match.index + match[0].length };
      return readings === null || readings.asks.length === 0
        ? []
        : [{ ...span, kind: "date", ...readings }];
    });
    taken = taken.concat(withoutOverlaps(found, taken));
  }
  return taken.sort((one, other) => one.start - other.start);
}

function withoutOverlaps(found: readonly Figure[], taken: readonly Figure[]): Figure[] {
  const sorted = [...taken].sort((one, other) => one.start - other.start);
  let at = 0;
  return found.filter(({ start, end }) => {
    while ((sorted[at]?.end ?? Number.POSITIVE_INFINITY) <= start) at += 1;
    return (sorted[at]?.start ?? Number.POSITIVE_INFINITY) >= end;
  });
}

function readNamedDay({ groups }: Match): ReturnType<Reader> {
  const { day = "", month = "", year } = groups ?? {};
  // "may" and "march" in small letters are verbs.
  if (/^(?:may|mar(?:ch)?)$/.test(month)) return null;
  const full = year === undefined ? undefined : fullYear(year);
  return askFor(dayReadings(Number(day), monthOf(month), full), full);
}

function readDayAndMonth({ groups }: Match): ReturnType<Reader> {
  const { day = "", month = "" } = groups ?? {};
  return askFor(dayReadings(Number(day), Number(month), undefined), undefined);
}

/** The first year of each era of the Japanese calendar, less one. */
const ERAS: Readonly<Record<string, number>> = { 令和: 2018, 平成: 1988, 昭和: 1925 };

function readJapaneseDay({ groups }: Match): ReturnType<Reader> {
  const { year, era = "", count = "1", month = "", day } = groups ?? {};
  const inEra = (ERAS[era] ?? 0) + (count === "元" ? 1 : Number(count));
  const full = year ?? String(inEra);
  if (day !== undefined) return askFor(dayReadings(Number(day), Number(month), full), full);
  const readings = monthReadings(Number(month), full);
  return { asks: [readings], offers: readings };
}

function readJapaneseTime({ groups }: Match): ReturnType<Reader> {
  const { half, hour = "", minute, past } = groups ?? {};
  const late = half === "午後" || half === "夜";
  const minutes = past === undefined ? minute?.padStart(2, "0") : "30";
  const readings = timeReadings(
    Number(hour),
    minutes,
    half === undefined ? undefined : late ? "p" : "a",
  );
  return { asks: readings.map((reading) => [reading]), offers: readings.slice(0, 1) };
}

function readNamedMonth({ groups }: Match): ReturnType<Reader> {
  const { month = "", year = "" } = groups ?? {};
  const readings = monthReadings(monthOf(month), year);
  return { asks: [readings], offers: readings };
}

/** A date in digits. If both orders are in use, only a value above 12 tells the day from the month. */
function readNumericDay({ groups }: Match, order: "iso" | "either"): ReturnType<Reader> {
  const { day = "", month = "", year = "", mark = "" } = groups ?? {};
  const readings = dayReadings(Number(day), Number(month), year);
  const swapped =
    order === "either" && mark !== "." ? dayReadings(Number(month), Number(day), year) : [];
  const one = askFor(readings, year);
  const other = askFor(swapped, year);
  return { asks: [...one.asks, ...other.asks], offers: [...one.offers, ...other.offers] };
}

/** A full date asks for itself, or for its day and month with the year elsewhere in the text. */
function askFor(
  readings: readonly string[],
  year: string | undefined,
): Pick<Figure, "asks" | "offers"> {
  const [first, inYear] = readings;
  if (first === undefined) return { asks: [], offers: [] };
  const apart = inYear === undefined || year === undefined ? [] : [[inYear, `n:${year}`]];
  return { asks: [[first], ...apart], offers: readings };
}

function readTime({ groups }: Match): ReturnType<Reader> {
  const { hour = "", minute, half } = groups ?? {};
  const readings = timeReadings(Number(hour), minute, half);
  return { asks: readings.map((reading) => [reading]), offers: readings.slice(0, 1) };
}

/** "18 h 30" is a time of day, "2h45" may be hours and minutes. */
function readTimeOrSpan(match: Match): ReturnType<Reader> {
  const { hour = "", minute = "" } = match.groups ?? {};
  const read = readTime(match);
  const span = [`n:${Number(hour)}`, `n:${Number(minute)}`];
  return read === null ? null : { ...read, asks: [...read.asks, span] };
}

function pattern(source: string): RegExp {
  return new RegExp(source, "giu");
}
