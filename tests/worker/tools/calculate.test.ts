import { describe, expect, test } from "@jest/globals";
import { CALCULATE } from "../../../src/worker/tools/calculate.ts";
import { toolReach } from "../../support/tool-reach.ts";

const reckon = async (expression: string): Promise<string> => {
  const given = await CALCULATE.run({ expression }, toolReach());
  return given.kind === "output" ? given.text.slice(expression.trim().length + 3) : given.message;
};

describe("it reckons exactly", () => {
  test.each([
    ["0.1 + 0.2", "0.3"],
    ["(310 - 85) * 1.19", "267.75"],
    ["1 / 3", "about 0.333333333333"],
    ["1 / 3 * 3", "1"],
    ["2 / 8", "0.25"],
    ["15 % of 240", "36"],
    ["100 - 20%", "99.8"],
    ["-3 * -4", "12"],
    ["− 3 × 2 ÷ 4", "-1.5"],
    ["sum(1, 2, 3.5)", "6.5"],
    ["avg(1, 2)", "1.5"],
    ["min(3, 1, 2) + max(3, 1, 2)", "4"],
    ["round(2.345, 2)", "2.35"],
    ["round(-2.5)", "-3"],
    ["99999999999999999999 * 99999999999999999999", "9999999999999999999800000000000000000001"],
    ["2026-03-01 - 2025-12-24", "67 days"],
    ["2024-02-28 + 2 days", "2024-03-01"],
    ["2026-03-01 - 60 days", "2025-12-31"],
    ["2026-01-01 + 2 weeks", "2026-01-15"],
    ["weekday(2026-11-23)", "Monday"],
    ["weekday(1969-12-31)", "Wednesday"],
    ["(2026-03-01 - 2026-02-01) / 7", "4 days"],
    ["max(2025-01-01, 2026-01-01)", "2026-01-01"],
    ["9999-12-31 + 1 day", "+010000-01-01"],
  ])("%s", async (expression, result) => {
    expect(await reckon(expression)).toBe(result);
  });
});

describe("it says what is wrong", () => {
  test.each([
    ["1 / 0", "division by zero"],
    ["2026-02-30 + 1 day", "2026-02-30 is no day of the calendar"],
    ["2026-01-01 * 2", "a date stands where a number was expected"],
    ["2026-01-01 + 0.5", "a date goes on by whole days"],
    ["1 +", "it ends where a number was expected"],
    ["(1", ") is missing"],
    ["1 2", "2 stands where nothing was expected"],
    ["process.exit(1)", 'nothing is known that begins at ".exit(1)"'],
    ["sqrt(4)", "there is no sqrt"],
    ["weekday(3)", "weekday takes a date"],
    ["round(1, 99)", "round takes 0 to 12 digits"],
    [`${"(".repeat(60)}1${")".repeat(60)}`, "too many brackets"],
    ["2026-01-01 + 99999999999", "ten thousand years at most"],
  ])("%s", async (expression, why) => {
    const given = await CALCULATE.run({ expression }, toolReach());
    expect(given).toMatchObject({
      kind: "refused",
      code: "INVALID_ARGS",
      message: expect.stringContaining(why),
    });
  });

  test("a thousand digits multiplied a hundred times end at once", async () => {
    const factor = "9".repeat(190);
    const startedAt = performance.now();
    await reckon(Array.from({ length: 5 }, () => factor).join("*"));
    expect(performance.now() - startedAt).toBeLessThan(200);
  });
});

test("gives what it reckoned as a print, which an answer may cite beside what was read", async () => {
  const given = await CALCULATE.run({ expression: " 2 + 5 " }, toolReach());
  expect(given).toMatchObject({
    evidence: [{ kind: "output", output: { call: "2 + 5", text: "2 + 5 = 7", charsFull: 9 } }],
  });
});
