import { join, resolve } from "node:path";
import { expect, test } from "@jest/globals";
import { describeTimes, triedAgain } from "../../scripts/test-times.js";
import type { Report } from "../../scripts/test-times.js";

const root = resolve(import.meta.dirname, "..", "..");

const FAST = {
  name: join(root, "tests", "fast.test.ts"),
  startTime: 5_000,
  endTime: 5_400,
  assertionResults: [{ fullName: "adds", status: "passed", ancestorTitles: [] }],
};
const SLOW = {
  name: join(root, "tests", "slow.test.ts"),
  startTime: 1_000,
  endTime: 13_500,
  assertionResults: [
    { fullName: "a", status: "passed", ancestorTitles: ["the queue on redis+postgres"] },
    { fullName: "b", status: "failed", ancestorTitles: ["the queue on embedded"] },
    { fullName: "c", status: "passed", ancestorTitles: [], invocations: 2 },
  ],
};
const REPORTS: readonly Report[] = [
  { tests: "busy", seconds: 13, results: { testResults: [FAST, SLOW] } },
  { tests: "limits", seconds: 0.5, results: { testResults: [] } },
];

test("tells runs by topology, the longest files first, and what was tried again", () => {
  expect(describeTimes(REPORTS)).toEqual([
    "seconds  files  passed  run",
    "   13.0      2       3  busy: redis+postgres 1",
    "    0.5      0       0  limits",
    "seconds  file, the longest",
    "   12.5  tests/slow.test.ts",
    "    0.4  tests/fast.test.ts",
    "tests that were tried again:",
    "         tests/slow.test.ts: c",
  ]);
});

test("names 20 files and no more", () => {
  const testResults = Array.from({ length: 30 }, () => FAST);
  const lines = describeTimes([{ tests: "busy", seconds: 1, results: { testResults } }]);
  expect(lines.filter((line) => line.includes("fast.test.ts"))).toHaveLength(20);
  expect(lines.at(-1)).toBe("tests that were tried again: none");
});

test("finds what passed only when it was tried again", () => {
  expect(triedAgain(REPORTS)).toEqual(["tests/slow.test.ts: c"]);
});
