/** What a date or a time can be compared by: `d:2024-05-03`, `m:05-03`, `y:2024-05`, `t:18:30`. */
export type DateReading = string;

/** First letters of the months in English and German. */
const MONTHS: readonly (readonly string[])[] = [
  ["jan"],
  ["feb"],
  ["mar", "mär", "mae"],
  ["apr"],
  ["may", "mai"],
  ["jun"],
  ["jul"],
  ["aug"],
  ["sep"],
  ["oct", "okt"],
  ["nov"],
  ["dec", "dez"],
];

export const MONTH_NAME =
  "(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|märz|mar(?:ch)?|maerz|mär|apr(?:il)?|ma[yi]|june?|juni|july?|juli|aug(?:ust)?|" +
  "sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)";

/** 1 to 12, or 0 for no month. */
export const monthOf = (name: string): number =>
  MONTHS.findIndex((starts) => starts.includes(name.slice(0, 3).toLowerCase())) + 1;

/** The readings of a day, with its year or without; none for a day that no month has. */
export function dayReadings(day: number, month: number, year: string | undefined): DateReading[] {
  if (month < 1 || month > 12 || day < 1 || day > 31) return [];
  const inYear = `m:${two(month)}-${two(day)}`;
  if (year === undefined) return [inYear];
  const full = year.length === 2 ? `20${year}` : year;
  return [`d:${full}-${two(month)}-${two(day)}`, inYear, `y:${full}-${two(month)}`];
}

export const monthReadings = (month: number, year: string): DateReading[] => [
  `y:${year}-${two(month)}`,
];

/** A time of day as 24 hours; of one without am or pm only the first is what it says, the second what it may mean. */
export function timeReadings(
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
