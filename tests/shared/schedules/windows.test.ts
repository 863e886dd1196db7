import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  createWindowClock,
  isOpen,
  nextChange,
  parseWindow,
} from "../../../src/shared/schedules/windows.ts";
import type { Window } from "../../../src/shared/schedules/windows.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const windowOf = (text: string): Window => {
  const parsed = parseWindow(text);
  if (!parsed.ok) throw new Error(parsed.expected);
  return parsed.window;
};

/** The engine's own calendar, which owes nothing to the code under test. */
const formatters = new Map<string, Intl.DateTimeFormat>();
function wallClock(instant: number, zone: string): { day: number; minute: number } {
  const known = formatters.get(zone);
  const format =
    known ??
    new Intl.DateTimeFormat("en-GB", {
      timeZone: zone,
      hourCycle: "h23",
      weekday: "short",
      hour: "2-digit",
      minute: "2-digit",
    });
  formatters.set(zone, format);
  const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, value]));
  return {
    day: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].indexOf(parts.get("weekday") ?? "") + 1,
    minute: Number(parts.get("hour")) * 60 + Number(parts.get("minute")),
  };
}

function isInside({ days, start, end, zone }: Window, instant: number): boolean {
  const { day, minute } = wallClock(instant, zone);
  if (start < end) return days.has(day) && minute >= start && minute < end;
  return (days.has(day) && minute >= start) || (days.has(day === 1 ? 7 : day - 1) && minute < end);
}

/** Days on which clocks change, and their neighbours. */
const CHANGES: readonly (readonly [string, string])[] = [
  ["Europe/Berlin", "2026-03-29"],
  ["Europe/Berlin", "2026-10-25"],
  ["America/New_York", "2026-03-08"],
  ["America/New_York", "2026-11-01"],
  ["Australia/Lord_Howe", "2026-04-05"],
  ["Australia/Lord_Howe", "2026-10-04"],
  ["Asia/Kathmandu", "2026-06-15"],
  // Clocks were put forward at midnight.
  ["America/Sao_Paulo", "2018-11-04"],
];

const timeText = (minute: number) =>
  `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;
const quarter = (most: number) => fc.integer({ min: 0, max: most }).map((n) => n * 15);
const days = fc.constantFrom("", "Sat-Sun ", "Mon-Fri ", "Fri-Mon ", "Sun,Wed ");
const windowText = (zone: string) =>
  fc
    .tuple(days, quarter(95), quarter(96))
    .filter(([, start, end]) => start !== end)
    .map(([named, start, end]) => `${named}${timeText(start)}-${timeText(end)} ${zone}`);

describe.each(CHANGES)("windows in %s around %s", (zone, day) => {
  const from = Date.parse(`${day}T00:00:00Z`) - DAY;

  test("are open in the minutes that the clocks on the wall show within them, and at no other", () => {
    fc.assert(
      fc.property(windowText(zone), (text) => {
        const window = windowOf(text);
        const wrong: number[] = [];
        for (let at = from; at < from + 3 * DAY; at += 5 * MINUTE) {
          if (isOpen([window], new Date(at)) !== isInside(window, at)) wrong.push(at);
        }
        expect(wrong).toEqual([]);
      }),
      { numRuns: 8 },
    );
  });

  test("change next where a walk from minute to minute finds it", () => {
    const other = fc.constantFrom(...CHANGES.map(([name]) => name)).chain(windowText);
    fc.assert(
      fc.property(
        windowText(zone),
        other,
        fc.integer({ min: 0, max: 2 * 1440 }),
        (a, b, minute) => {
          const windows = [windowOf(a), windowOf(b)];
          const start = from + minute * MINUTE;
          const inside = (at: number) => windows.some((window) => isInside(window, at));
          let at = start + MINUTE;
          while (inside(at) === inside(start) && at < start + 15 * DAY) at += MINUTE;
          const expected = at < start + 14 * DAY ? new Date(at) : undefined;
          expect([a, b, nextChange(windows, new Date(start))]).toEqual([a, b, expected]);
        },
      ),
      { numRuns: 12 },
    );
  });
});

describe("a window", () => {
  const opensAfter = (text: string, instant: string) =>
    nextChange([windowOf(text)], new Date(instant))?.toISOString();

  test("whose start is skipped begins with the next time that there is", () => {
    expect(opensAfter("02:30-05:00 Europe/Berlin", "2026-03-29T00:00:00Z")).toBe(
      "2026-03-29T01:00:00.000Z",
    );
  });

  test("that lies in an hour which occurs twice is open both times", () => {
    const text = "02:00-03:00 Europe/Berlin";
    expect(opensAfter(text, "2026-10-24T22:00:00Z")).toBe("2026-10-25T00:00:00.000Z");
    expect(opensAfter(text, "2026-10-25T00:00:00Z")).toBe("2026-10-25T02:00:00.000Z");
  });

  test("belongs to the day on which it begins", () => {
    const friday = windowOf("Fri 22:00-06:00 Europe/Berlin");
    expect(isOpen([friday], new Date("2026-11-21T04:00:00Z"))).toBe(true);
    expect(isOpen([friday], new Date("2026-11-20T04:00:00Z"))).toBe(false);
  });

  test("of every hour of every day never ends", () => {
    expect(nextChange([windowOf("00:00-24:00 UTC")], new Date(0))).toBeUndefined();
  });

  test.each([
    ["22-6 Europe/Berlin", "times and a zone like"],
    ["22:00-06:00", "times and a zone like"],
    ["Mon-Fry 22:00-06:00 UTC", "days among Mon"],
    ["24:00-06:00 UTC", "a start from 00:00 to 23:59"],
    ["22:60-06:00 UTC", "a start from 00:00 to 23:59"],
    ["22:00-22:00 UTC", "an end that is not the start"],
    ["22:00-06:00 Europe/Berln", "did you mean Europe/Berlin?"],
    ["22:00-06:00 Berlin", "did you mean Europe/Berlin?"],
    ["22:00-06:00 Mars/Olympus", "a zone of the IANA database like Europe/Berlin"],
    ["22:00-06:00 +02:00", "a zone of the IANA database"],
  ])("%s is refused with what was expected", (text, expected) => {
    const parsed = parseWindow(text);
    expect(parsed.ok ? "" : parsed.expected).toContain(expected);
  });
});

test("windows that can't be read are closed, and none are always open", () => {
  const clock = createWindowClock();
  expect(clock(["nonsense"], new Date(0))).toMatchObject({ isOpen: false, until: null });
  expect(clock([], new Date(0))).toEqual({ isOpen: true, until: null });
  // Nor does what was said later hold for a clock that was set back.
  const isOpenAt = (hour: number) =>
    clock(["22:00-06:00 UTC"], new Date(hour * 60 * MINUTE)).isOpen;
  expect([isOpenAt(23), isOpenAt(21)]).toEqual([true, false]);
});
