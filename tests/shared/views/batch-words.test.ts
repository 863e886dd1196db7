import { expect, test } from "@jest/globals";
import { formatHold, formatStateOn, holdRemedy } from "../../../src/shared/views/batch-words.ts";
import { formatDuration } from "../../../src/shared/views/quantity.ts";

const HOUR_MS = 3_600_000;

test("a hold says until when, and not of a moment that has passed", () => {
  const soon = formatHold({ holdReason: "window", holdUntil: new Date(Date.now() + HOUR_MS) });
  expect(soon).toMatch(/^held: window, until \d{4}-/);
  const past = formatHold({ holdReason: "window", holdUntil: new Date(Date.now() - HOUR_MS) });
  expect(past).toMatch(/^held: window, ended at \d{4}-.*: it goes on when a worker looks$/);
  expect(formatHold({ holdReason: "paused", holdUntil: null })).toBe("held: paused");
});

test("a hold on a page goes by its clocks, with the day where it is another", () => {
  const now = new Date("2026-11-28T15:00:00Z");
  const held = { state: "held", holdReason: "window" } as const;
  const on = (until: string | null) =>
    formatStateOn(
      { ...held, holdUntil: until === null ? null : new Date(until) },
      "Europe/Berlin",
      now,
    );
  expect(on("2026-11-28T21:00:00Z")).toBe("held: window closed, until 22:00");
  expect(on("2026-11-28T23:30:00Z")).toBe("held: window closed, until 2026-11-29 00:30");
  expect(on("2026-11-28T14:00:00Z")).toBe("held: window closed; it goes on when a worker looks");
  expect(on(null)).toBe("held: window closed");
});

test.each([
  ["minutes 2", '"minutes 2"'],
  ["$(touch x).jsonl", "'$(touch x).jsonl'"],
  ["`it's`", "'`it'\\''s`'"],
])("a shell takes the name %s of a command for one word, and runs nothing in it", (name, word) => {
  const remedy = holdRemedy({ name, holdReason: "paused", holdUntil: null });
  expect(remedy).toBe(`to go on: nightdesk batch resume ${word}`);
});

test.each([
  [12, "12 ms"],
  [3_400, "3.4 s"],
  [125_000, "2 min 5 s"],
  [11_520_000, "3 h 12 min"],
  [14_385_000, "4 h 0 min"],
  [-3_514_918, "an unknown time, since the clock went back"],
])("%d ms are %s", (milliseconds, words) => {
  expect(formatDuration(milliseconds)).toBe(words);
});
