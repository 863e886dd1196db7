import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { makeScratch } from "./scratch.ts";
import type { Scratch } from "./scratch.ts";

let scratch: Scratch;
beforeEach(async () => {
  scratch = await makeScratch();
});
afterEach(() => scratch.remove());

describe("a key that nothing acts on yet", () => {
  test.each([
    ['windows: ["22:00-06:00 Europe/Berlin"]', "windows is set"],
    [
      "schedules: [{ name: n, cron: 0 22 * * *, timezone: UTC, command: [index], catch_up: 12h }]",
      "schedules is set",
    ],
    ["budgets: { tokens: 1000 }", "budgets is set"],
    ["budgets: { night: { calls: 5 } }", "budgets.night is set"],
    ["runs: { keep_days: 30 }", "runs.keep_days is set"],
  ])("is refused when it asks for something: %s", async (content, expected) => {
    await scratch.write("nightdesk.yaml", content);
    expect(await scratch.loadError()).toContain(expected);
  });
});
