import { expect, test } from "@jest/globals";
import { formatHold } from "../../../src/shared/views/batch-words.ts";
import { formatDuration } from "../../../src/shared/views/quantity.ts";

const HOUR_MS = 3_600_000;

test("a hold says until when, and not of a moment that has passed", () => {
  const soon = formatHold({ holdReason: "window", holdUntil: new Date(Date.now() + HOUR_MS) });
  expect(soon).toMatch(/^held: window, until \d{4}-/);
  const past = formatHold({ holdReason: "window", holdUntil: new Date(Date.now() - HOUR_MS) });
  expect(past).toMatch(/^held: window, ended at \d{4}-.*: it goes on when a worker looks$/);
  expect(formatHold({ holdReason: "paused", holdUntil: null })).toBe("held: paused");
});

test.each([
  [12, "12 ms"],
  [3_400, "3.4 s"],
  [125_000, "2 min 5 s"],
  [11_520_000, "3 h 12 min"],
  [-3_514_918, "an unknown time, since the clock went back"],
])("%d ms are %s", (milliseconds, words) => {
  expect(formatDuration(milliseconds)).toBe(words);
});
