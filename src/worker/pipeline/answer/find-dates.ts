import type { Figure } from "./figure.ts";
import { dayReadings, MONTH_NAME, monthOf, monthReadings, timeReadings } from "./read-date.ts";

type Match = RegExpExecArray;
type Reader = (match: Match) => Pick<Figure, "asks" | "offers"> | null;

const GAP = String.raw`[ \t\u00A0\u202F]{1,3}`;
const DAY = String.raw`(?<![\p{N}.,])(?<day>\d{1,2})(?:st|nd|rd|th|\.)?`;
const YEAR = String.raw`(?:,?${GAP}(?<year>\d{4}))?(?![\p{N}])`;
const MONTH = String.raw`(?<month>${MONTH_NAME})(?![\p{L}])\.?`;

/** In order: what an earlier one has taken, a later one leaves. */
const DATES: readonly (readonly [RegExp, Reader])[] = [
  [pattern(String.raw`${DAY}${GAP}(?:of${GAP}(?:the${GAP})?)?${MONTH}${YEAR}`), namedDay],
  [
    pattern(
      String.raw`(?<![\p{L}])${MONTH}${GAP}(?<day>\d{1,2})(?:st|nd|rd|th)?(?![\p{N}:])${YEAR}`,
    ),
    namedDay,
  ],
  [pattern(String.raw`(?<![\p{L}])${MONTH},?${GAP}(?<year>\d{4})(?![\p{N}])`), namedMonth],
  [
    pattern(
      String.raw`(?<![\p{N}])(?<year>\d{4})(?<mark>[\-\/.])(?<month>\d{1,2})\k<mark>(?<day>\d{1,2})(?![\p{N}])`,
    ),
    (match) => numericDay(match, "iso"),
  ],
  [
    pattern(
      String.raw`(?<![\p{N}.])(?<day>\d{1,2})(?<mark>[.\/\-])(?<month>\d{1,2})\k<mark>(?<year>\d{4})(?![\p{N}])`,
    ),
    (match) => numericDay(match, "either"),
  ],
  [
    pattern(
      String.raw`(?<![\p{N}.])(?<day>\d{2})(?<mark>[.\/])(?<month>\d{2})\k<mark>(?<year>\d{2})(?![.\p{N}])`,
    ),
    (match) => numericDay(match, "either"),
  ],
  // "am 25.10." without a year: behind "am", "vom", "bis", since "5.10." alone may be a number that ends a sentence.
  [
    pattern(
      String.raw`(?<=(?<![\p{L}])(?:am|vom|zum|bis|ab|seit|den|dem)[ \u00A0])(?<day>\d{1,2})\.[ \u00A0]?(?<month>\d{1,2})\.(?![\p{N}])`,
    ),
    dayAndMonth,
  ],
  [
    pattern(
      String.raw`(?<![\p{N}:.,])(?<hour>\d{1,2})(?:[:.](?<minute>\d{2}))?[ \u00A0]?(?<half>[ap])(?:\.m\.?|m)(?![\p{L}])`,
    ),
    time,
  ],
  [
    pattern(String.raw`(?<![\p{N}:])(?<hour>\d{1,2}):(?<minute>\d{2})(?::\d{2})?(?![\p{N}:])`),
    time,
  ],
  [pattern(String.raw`(?<![\p{N}:.,])(?<hour>\d{1,2})(?:[:.](?<minute>\d{2}))?[ \u00A0]Uhr`), time],
  [
    pattern(
      String.raw`(?<![\p{N}:.,])(?<hour>\d{1,2})[ \u00A0\u202F]?h[ \u00A0\u202F]?(?<minute>[0-5]\d)(?![\p{L}\p{N}])`,
    ),
    timeOrSpan,
  ],
];

/** The dates and times of a text. Every pattern is bounded. */
export function findDates(text: string): Figure[] {
  let taken: Figure[] = [];
  for (const [regexp, read] of DATES) {
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

function namedDay({ groups }: Match): ReturnType<Reader> {
  const { day = "", month = "", year } = groups ?? {};
  // "may" and "march" in small letters are verbs.
  if (/^(?:may|mar(?:ch)?)$/.test(month)) return null;
  return asked(dayReadings(Number(day), monthOf(month), year), year);
}

function dayAndMonth({ groups }: Match): ReturnType<Reader> {
  const { day = "", month = "" } = groups ?? {};
  return asked(dayReadings(Number(day), Number(month), undefined), undefined);
}

function namedMonth({ groups }: Match): ReturnType<Reader> {
  const { month = "", year = "" } = groups ?? {};
  const readings = monthReadings(monthOf(month), year);
  return { asks: [readings], offers: readings };
}

/** Day and month are told apart by their values alone where both orders are in use. */
function numericDay({ groups }: Match, order: "iso" | "either"): ReturnType<Reader> {
  const { day = "", month = "", year = "", mark = "" } = groups ?? {};
  const readings = dayReadings(Number(day), Number(month), year);
  const swapped =
    order === "either" && mark !== "." ? dayReadings(Number(month), Number(day), year) : [];
  const one = asked(readings, year);
  const other = asked(swapped, year);
  return { asks: [...one.asks, ...other.asks], offers: [...one.offers, ...other.offers] };
}

/** A full date, or its day and month with its year somewhere else. */
function asked(
  readings: readonly string[],
  year: string | undefined,
): Pick<Figure, "asks" | "offers"> {
  const [first, inYear] = readings;
  if (first === undefined) return { asks: [], offers: [] };
  const apart = inYear === undefined || year === undefined ? [] : [[inYear, `n:${year}`]];
  return { asks: [[first], ...apart], offers: readings };
}

function time({ groups }: Match): ReturnType<Reader> {
  const { hour = "", minute, half } = groups ?? {};
  const readings = timeReadings(Number(hour), minute, half);
  return { asks: readings.map((reading) => [reading]), offers: readings.slice(0, 1) };
}

/** "18 h 30" is a time of day, "2h45" may be hours and minutes. */
function timeOrSpan(match: Match): ReturnType<Reader> {
  const { hour = "", minute = "" } = match.groups ?? {};
  const read = time(match);
  const span = [`n:${Number(hour)}`, `n:${Number(minute)}`];
  return read === null ? null : { ...read, asks: [...read.asks, span] };
}

function pattern(source: string): RegExp {
  return new RegExp(source, "giu");
}
