import { findCloseNames } from "../text/close-names.ts";
import { clockChanges, instantsOf, isZone, localZone, wallTimeAt, zoneNames } from "./time.ts";

/**
 * Times of the day, in a zone, when jobs may run. Minutes from midnight; `end` is at most 1440, and a window whose end is before
 * its start continues after midnight. `days` are the weekdays on which it begins, 1 (Monday) to 7.
 */
export type Window = {
  readonly days: ReadonlySet<number>;
  readonly start: number;
  readonly end: number;
  readonly zone: string;
};

const WINDOW_EXAMPLE = "22:00-06:00 Europe/Berlin";
const FORM = `times and a zone like "${WINDOW_EXAMPLE}", with days before them if not all, like "Sat-Sun 00:00-24:00 Europe/Berlin"`;
const DAY_NAMES = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const PATTERN =
  /^(?:([a-z]{3}(?:-[a-z]{3})?(?:,[a-z]{3}(?:-[a-z]{3})?)*) +)?(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2}) +(\S+)$/i;

/** Parses a window of the configuration, or returns the expected form, to follow "expected". */
export function parseWindow(
  text: string,
):
  | { readonly ok: true; readonly window: Window }
  | { readonly ok: false; readonly expected: string } {
  const refused = (expected: string) => ({ ok: false, expected }) as const;
  const found = PATTERN.exec(text.trim());
  if (found === null) return refused(FORM);
  const [, dayText, startHour, startMinute, endHour, endMinute, zone = ""] = found;
  const days = parseDays(dayText);
  if (days === undefined) return refused(`days among Mon, Tue, Wed, Thu, Fri, Sat and Sun`);
  const start = minuteOf(startHour, startMinute);
  const end = minuteOf(endHour, endMinute);
  if (start === undefined || end === undefined || start === 24 * 60) {
    return refused("a start from 00:00 to 23:59 and an end up to 24:00");
  }
  if (start === end) return refused(`an end that is not the start; the whole day is 00:00-24:00`);
  if (!isZone(zone)) return refused(`a zone of the IANA database${suggestZone(zone)}`);
  return { ok: true, window: { days, start, end, zone } };
}

function parseDays(text: string | undefined): ReadonlySet<number> | undefined {
  if (text === undefined) return new Set([1, 2, 3, 4, 5, 6, 7]);
  const days = new Set<number>();
  for (const range of text.toLowerCase().split(",")) {
    const [first = "", last = first] = range.split("-");
    const from = DAY_NAMES.indexOf(first);
    const to = DAY_NAMES.indexOf(last);
    if (from === -1 || to === -1) return undefined;
    // A range may cross the end of the week, like Fri-Mon.
    for (let day = from; ; day = (day + 1) % 7) {
      days.add(day + 1);
      if (day === to) break;
    }
  }
  return days;
}

function minuteOf(hour = "", minute = ""): number | undefined {
  const minutes = Number(hour) * 60 + Number(minute);
  return Number(minute) < 60 && minutes <= 24 * 60 ? minutes : undefined;
}

/** Suggests a zone also by the last part of its name, which people remember. */
function suggestZone(zone: string): string {
  const names = zoneNames();
  const [close] = findCloseNames(zone, names);
  const place = zone.split("/").at(-1) ?? zone;
  const [city] = findCloseNames(
    place,
    names.map((name) => name.split("/").at(-1) ?? name),
  );
  const meant = close ?? names.find((name) => city !== undefined && name.endsWith(`/${city}`));
  return meant === undefined ? " like Europe/Berlin" : `; did you mean ${meant}?`;
}

/** Parses windows that were checked when they were stored. @returns undefined if one of them can't be parsed */
function parseWindows(texts: readonly string[]): readonly Window[] | undefined {
  const parsed = texts.map(parseWindow);
  return parsed.every((each) => each.ok) ? parsed.map(({ window }) => window) : undefined;
}

/**
 * Whether the wall-clock time at an instant is within a window. A skipped hour is in no window; one that occurs twice is in it
 * twice.
 */
export function isOpen(windows: readonly Window[], instant: Date): boolean {
  return windows.some(({ days, start, end, zone }) => {
    const { weekday, minute } = wallTimeAt(instant, zone);
    if (start < end) return days.has(weekday) && minute >= start && minute < end;
    const dayBefore = weekday === 1 ? 7 : weekday - 1;
    return (days.has(weekday) && minute >= start) || (days.has(dayBefore) && minute < end);
  });
}

const DAY_MS = 24 * 60 * 60_000;
/** Most windows change within a day. Two weeks include every weekly window, even when a clock change skips it once. */
const HORIZONS_DAYS = [2, 15];

/** The next instant when the windows open or close; undefined when they never do. */
export function nextChange(windows: readonly Window[], instant: Date): Date | undefined {
  const wasOpen = isOpen(windows, instant);
  for (const days of HORIZONS_DAYS) {
    const until = new Date(instant.getTime() + days * DAY_MS);
    const [first] = windows
      .flatMap((window) => listBoundaries(window, instant, until))
      .filter((time) => time > instant && time <= until && isOpen(windows, time) !== wasOpen)
      .sort((a, b) => a.getTime() - b.getTime());
    if (first !== undefined) return first;
  }
  return undefined;
}

/** Every instant between two others when a window could open or close. */
function listBoundaries({ start, end, zone }: Window, from: Date, until: Date): readonly Date[] {
  const days = Math.ceil((until.getTime() - from.getTime()) / DAY_MS) + 1;
  return [
    ...Array.from({ length: days + 1 }, (_, day) =>
      [0, start, end].flatMap((minute) => instantsOf({ instant: from, zone }, day, minute)),
    ).flat(),
    ...clockChanges(zone, from, until),
  ];
}

/** Whether windows are open, and until when; null when the state never changes. */
type WindowState = { readonly isOpen: boolean; readonly until: Date | null };

/**
 * Returns a function that gives the state of windows and caches it until it changes. No windows count as always open; windows
 * that can't be parsed count as closed.
 */
export function createWindowClock(): (texts: readonly string[], now: Date) => WindowState {
  const known = new Map<string, WindowState & { readonly from: Date }>();
  return (texts, now) => {
    if (texts.length === 0) return { isOpen: true, until: null };
    const key = texts.join("\n");
    const before = known.get(key);
    if (before !== undefined && holdsAt(before, now)) return before;
    const windows = parseWindows(texts) ?? [];
    const state = {
      isOpen: isOpen(windows, now),
      until: nextChange(windows, now) ?? null,
      from: now,
    };
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(key, state);
    return state;
  };
}

const MOST_KNOWN = 1_000;

const holdsAt = ({ from, until }: { from: Date; until: Date | null }, now: Date): boolean =>
  now >= from && now.getTime() < (until?.getTime() ?? from.getTime() + DAY_MS);

/** A night lasts from noon to noon, so that work until the morning belongs to the evening before. */
export type Night = {
  /** The day of its evening, `YYYY-MM-DD`. */
  readonly date: string;
  readonly endsAt: Date;
};

const HALF_DAY_MS = 12 * 60 * 60_000;

/** The night of an instant: its date is that of twelve hours before, in the zone of the first window, else of this machine. */
export function nightOf(instant: Date, windows: readonly string[]): Night {
  const zone = installationZone(windows);
  const evening = new Date(instant.getTime() - HALF_DAY_MS);
  const date = new Intl.DateTimeFormat("sv-SE", { timeZone: zone }).format(evening);
  const midnight = instantsOf({ instant: evening, zone }, 1, 0)[0] ?? evening;
  return { date, endsAt: new Date(midnight.getTime() + HALF_DAY_MS) };
}

/** The time zone of the installation: that of the first window, else that of this machine. */
export function installationZone([first]: readonly string[]): string {
  const parsed = first === undefined ? undefined : parseWindow(first);
  return parsed?.ok === true ? parsed.window.zone : localZone();
}
