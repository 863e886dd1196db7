import { describe, expect, test } from "@jest/globals";
import { parseCron } from "../../../src/shared/schedules/cron-times.ts";
import type { CronTimes } from "../../../src/shared/schedules/cron-times.ts";

function timesOf(cron: string, timezone: string): CronTimes {
  const read = parseCron(cron, timezone);
  if (!read.ok) throw new Error(read.reason);
  return read.times;
}

function following(times: CronTimes, from: string, count: number): string[] {
  const found: string[] = [];
  for (let at = new Date(from); found.length < count; found.push(at.toISOString())) {
    at = times.next(at);
  }
  return found;
}

function preceding(times: CronTimes, from: string, count: number): string[] {
  const found: string[] = [];
  for (let at = new Date(from); found.length < count; at = new Date(at.getTime() - 1)) {
    at = times.previous(at);
    found.unshift(at.toISOString());
  }
  return found;
}

const BERLIN = "Europe/Berlin";

describe("the times of a cron expression", () => {
  test.each([
    [
      "a time that the clock leaves out comes at the end of the gap, once",
      "30 2 * * *",
      BERLIN,
      ["2026-03-28T01:30:00.000Z", "2026-03-29T01:00:00.000Z", "2026-03-30T00:30:00.000Z"],
    ],
    [
      "a time that occurs twice counts the first time",
      "30 2 * * *",
      BERLIN,
      ["2026-10-24T00:30:00.000Z", "2026-10-25T00:30:00.000Z", "2026-10-26T01:30:00.000Z"],
    ],
    [
      "every hour is every hour when one is left out",
      "0 * * * *",
      BERLIN,
      ["2026-03-29T00:00:00.000Z", "2026-03-29T01:00:00.000Z", "2026-03-29T02:00:00.000Z"],
    ],
    [
      "half past every hour does not come at the end of one that is left out",
      "30 * * * *",
      BERLIN,
      ["2026-03-29T00:30:00.000Z", "2026-03-29T01:30:00.000Z", "2026-03-29T02:30:00.000Z"],
    ],
    [
      "every half hour goes on through an hour that occurs twice",
      "*/30 * * * *",
      BERLIN,
      [
        "2026-10-25T00:00:00.000Z",
        "2026-10-25T00:30:00.000Z",
        "2026-10-25T01:00:00.000Z",
        "2026-10-25T01:30:00.000Z",
        "2026-10-25T02:00:00.000Z",
      ],
    ],
    [
      "a midnight that is left out is one o'clock",
      "0 0 * * *",
      "America/Sao_Paulo",
      ["2018-11-03T03:00:00.000Z", "2018-11-04T03:00:00.000Z", "2018-11-05T02:00:00.000Z"],
    ],
    [
      "a gap of half an hour ends after half an hour",
      "15 2 * * *",
      "Australia/Lord_Howe",
      ["2026-10-02T15:45:00.000Z", "2026-10-03T15:30:00.000Z", "2026-10-04T15:15:00.000Z"],
    ],
    [
      "a field of names is a field of numbers",
      "0 22 * * mon-fri",
      "UTC",
      ["2026-11-19T22:00:00.000Z", "2026-11-20T22:00:00.000Z", "2026-11-23T22:00:00.000Z"],
    ],
  ])("%s", (_, cron, timezone, expected) => {
    const times = timesOf(cron, timezone);
    const [first = ""] = expected;
    const last = expected.at(-1) ?? "";
    const justBefore = new Date(Date.parse(first) - 1).toISOString();
    expect(following(times, justBefore, expected.length)).toEqual(expected);
    expect(preceding(times, last, expected.length)).toEqual(expected);
  });

  test("the days around a change are the same forwards and backwards", () => {
    for (const cron of ["*/20 1-3 * * *", "30 2 * * *", "59 * * * *"]) {
      for (const zone of [BERLIN, "Australia/Lord_Howe"]) {
        for (const [from, to] of [
          ["2026-03-27T00:00:00Z", "2026-04-07T00:00:00Z"],
          ["2026-10-02T00:00:00Z", "2026-10-05T00:00:00Z"],
          ["2026-10-23T00:00:00Z", "2026-10-27T00:00:00Z"],
        ] as const) {
          const times = timesOf(cron, zone);
          const forwards = [];
          for (let at = times.next(new Date(from)); at < new Date(to); at = times.next(at)) {
            forwards.push(at.getTime());
          }
          const backwards = [];
          const end = new Date(Date.parse(to) - 1);
          for (let at = times.previous(end); at > new Date(from);) {
            backwards.unshift(at.getTime());
            at = times.previous(new Date(at.getTime() - 1));
          }
          expect(backwards).toEqual(forwards);
        }
      }
    }
  });

  test("a time is its own previous one, and not its next one", () => {
    const times = timesOf("0 1 * * *", "UTC");
    const at = new Date("2026-11-21T01:00:00Z");
    expect(times.previous(at)).toEqual(at);
    expect(times.next(at)).toEqual(new Date("2026-11-22T01:00:00Z"));
  });
});

describe("what is refused", () => {
  test.each([
    ["nothing", "", "UTC", "is no cron expression"],
    ["four fields", "0 1 * *", "UTC", "five fields"],
    ["seconds", "* * * * * *", "UTC", "five fields"],
    ["a value out of range", "99 1 * * *", "UTC", "expected range 0-59"],
    ["a day that never comes", "0 0 30 2 *", "UTC", "is no cron expression"],
    ["a field that is drawn by lot", "H 1 * * *", "UTC", "five fields"],
    ["a range that is drawn by lot", "0 H-23 * * *", "UTC", "five fields"],
    ["a zone that nobody knows", "0 1 * * *", "Mars/Base", '"Mars/Base" is no time zone'],
  ])("%s", (_, cron, timezone, reason) => {
    expect(parseCron(cron, timezone)).toEqual({
      ok: false,
      reason: expect.stringContaining(reason),
    });
  });
});
