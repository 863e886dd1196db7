import { describe, expect, test } from "@jest/globals";
import { nightOf } from "../../../src/shared/schedules/windows.ts";

const BERLIN = ["22:00-06:00 Europe/Berlin", "00:00-24:00 UTC"];
const night = (instant: string, windows: readonly string[] = BERLIN) => {
  const { date, endsAt } = nightOf(new Date(instant), windows);
  return [date, endsAt.toISOString()];
};

describe("a night", () => {
  test("goes from noon to noon in the zone of the first window", () => {
    const first = ["2026-11-21", "2026-11-22T11:00:00.000Z"];
    expect(night("2026-11-21T11:00:00Z")).toEqual(first);
    expect(night("2026-11-21T23:30:00Z")).toEqual(first);
    expect(night("2026-11-22T10:59:59Z")).toEqual(first);
    expect(night("2026-11-22T11:00:00Z")[0]).toBe("2026-11-22");
  });

  test("in which clocks are put back or forward is one night", () => {
    expect(night("2026-10-24T20:00:00Z")[0]).toBe("2026-10-24");
    expect(night("2026-10-25T05:00:00Z")[0]).toBe("2026-10-24");
    expect(night("2026-03-29T05:00:00Z")[0]).toBe("2026-03-28");
  });

  test("ends where the next one begins", () => {
    for (const day of ["2026-03-28T20:00:00Z", "2026-10-24T20:00:00Z", "2026-07-01T20:00:00Z"]) {
      const { date, endsAt } = nightOf(new Date(day), BERLIN);
      expect(nightOf(new Date(endsAt.getTime() - 1), BERLIN).date).toBe(date);
      expect(nightOf(endsAt, BERLIN).date).not.toBe(date);
    }
  });
});
