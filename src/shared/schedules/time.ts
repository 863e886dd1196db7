import { createRequire } from "node:module";
import type * as luxon from "luxon";

const require = createRequire(import.meta.url);
let loaded: typeof luxon | undefined;
/** Loaded on demand: most commands need no time zone. */
const clocks = (): typeof luxon => (loaded ??= require("luxon") as typeof luxon);

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** A wall-clock time. `weekday` counts from 1 (Monday) to 7; `minute` from midnight, 0 to 1439. */
type WallTime = { readonly weekday: number; readonly minute: number };

/** Whether the zone is in the IANA database, like `Europe/Berlin` or `UTC`; an offset like `+02:00` is not. */
export const isZone = (zone: string): boolean =>
  /^[A-Za-z]/.test(zone) && clocks().IANAZone.isValidZone(zone);

/** Names of all zones, for suggestions. */
export const zoneNames = (): readonly string[] => ["UTC", ...Intl.supportedValuesOf("timeZone")];

/** The zone of this machine. */
export const localZone = (): string => clocks().DateTime.local().zoneName;

/** The wall-clock time of a zone at an instant. */
export function wallTimeAt(instant: Date, zone: string): WallTime {
  const { weekday, hour, minute } = clocks().DateTime.fromJSDate(instant, { zone });
  return { weekday, minute: hour * 60 + minute };
}

/**
 * Every instant that can have this minute of the day, on the day that is `daysAfter` days after the instant's: two in an hour
 * that occurs twice; one with another wall-clock time when the minute is skipped.
 */
export function instantsOf(
  { instant, zone }: { readonly instant: Date; readonly zone: string },
  daysAfter: number,
  minute: number,
): readonly Date[] {
  const { year, month, day } = clocks()
    .DateTime.fromJSDate(instant, { zone })
    .plus({ days: daysAfter });
  const hour = Math.floor(minute / 60);
  return clocks()
    .DateTime.fromObject({ year, month, day }, { zone })
    .set({ hour, minute: minute % 60 })
    .getPossibleOffsets()
    .map((time) => time.toJSDate());
}

/** The clock changes of a zone between two instants, to the minute. */
export function clockChanges(zone: string, from: Date, to: Date): readonly Date[] {
  const iana = clocks().IANAZone.create(zone);
  const find = (early: number, late: number): readonly Date[] => {
    if (iana.offset(early) === iana.offset(late) && late - early <= DAY_MS) return [];
    const middle = Math.floor((early + late) / 2 / MINUTE_MS) * MINUTE_MS;
    if (middle <= early) return [new Date(late)];
    return [...find(early, middle), ...find(middle, late)];
  };
  const start = Math.floor(from.getTime() / MINUTE_MS) * MINUTE_MS;
  const end = Math.ceil(to.getTime() / MINUTE_MS) * MINUTE_MS;
  return find(start, end);
}

/** The next instant with that minute of the day in the zone; the end of the gap when a clock change skips the minute. */
export function nextAt(after: Date, minute: number, zone: string): Date {
  for (let day = 0; ; day += 1) {
    const found = instantsOf({ instant: after, zone }, day, minute)
      .map((time) => (wallTimeAt(time, zone).minute === minute ? time : endOfGap(time, zone)))
      .find((time) => time > after);
    if (found !== undefined) return found;
  }
}

const endOfGap = (shifted: Date, zone: string): Date =>
  clockChanges(zone, new Date(shifted.getTime() - DAY_MS), shifted).at(-1) ?? shifted;

/** Parses an ISO 8601 time; without an offset it is in the zone. Undefined for other text. */
export function parseIsoTime(text: string, zone: string): Date | undefined {
  const time = clocks().DateTime.fromISO(text, { zone });
  return time.isValid ? time.toJSDate() : undefined;
}

/** `2026-11-21 22:00 CET`, or `2026-11-21 22:00:09 CET`, in the zone; `GMT+5:30` for a zone without an abbreviation. */
export const formatInZone = (
  instant: Date,
  zone: string,
  precision: "minutes" | "seconds" = "minutes",
): string =>
  clocks()
    .DateTime.fromJSDate(instant, { zone })
    .setLocale("en-GB")
    .toFormat(precision === "minutes" ? "yyyy-MM-dd HH:mm ZZZZ" : "yyyy-MM-dd HH:mm:ss ZZZZ");

/** The instants of a wall-clock time in a zone, in milliseconds since 1970. In a gap, `first` is the end of the gap. */
type Occurrences = {
  readonly first: number;
  readonly others: readonly number[];
  readonly isGap: boolean;
};

/** @param wall the wall-clock time as if it were UTC, in milliseconds since 1970 */
export function occurrencesOf(wall: number, zone: string): Occurrences {
  const offsets = [offsetMs(wall - DAY_MS, zone), offsetMs(wall + DAY_MS, zone)];
  const [first, ...others] = [...new Set(offsets.map((offset) => wall - offset))]
    .filter((instant) => instant + offsetMs(instant, zone) === wall)
    .sort((one, other) => one - other);
  if (first !== undefined) return { first, others, isGap: false };
  const [late, early] = [wall - Math.min(...offsets), wall - Math.max(...offsets)];
  const end = clockChanges(zone, new Date(early), new Date(late)).at(-1)?.getTime() ?? late;
  return { first: end, others: [], isGap: true };
}

/** Offset of a zone from UTC at an instant, in milliseconds; positive when it is ahead. */
export const offsetMs = (instant: number, zone: string): number =>
  clocks().IANAZone.create(zone).offset(instant) * MINUTE_MS;

/** Date and time of an instant in a zone: `2026-10-25`, and `2026-10-25T02:30:00+02:00`. */
export function isoInZone(
  instant: Date,
  zone: string,
): { readonly date: string; readonly time: string } {
  const local = clocks().DateTime.fromJSDate(instant, { zone });
  return {
    date: local.toFormat("yyyy-MM-dd"),
    time: local.toFormat("yyyy-MM-dd'T'HH:mm:ssZZ"),
  };
}

/** Offset of a zone from UTC at an instant: `+01:00`. */
export const offsetAt = (instant: Date, zone: string): string =>
  clocks().DateTime.fromJSDate(instant, { zone }).toFormat("ZZ");

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION = /^([1-9]\d{0,5})([smhd])$/;

/** Milliseconds of a duration like `90m`, `12h` or `2d`. @returns undefined for other text */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = DURATION.exec(text) ?? [];
  if (count === undefined || unit === undefined) return undefined;
  return Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
}
