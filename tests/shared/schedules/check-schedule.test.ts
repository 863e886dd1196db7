import { describe, expect, test } from "@jest/globals";
import { checkSchedule, parseCatchUp } from "../../../src/shared/schedules/schedule.ts";
import type { ScheduleEntry } from "../../../src/shared/schedules/schedule.ts";
import { fillPlaceholders } from "../../../src/shared/schedules/placeholders.ts";
import { timeTaken } from "../../support/time-taken.ts";

const problemsOf = (overrides: Partial<ScheduleEntry>) =>
  checkSchedule({
    name: "nightly",
    cron: "0 1 * * *",
    timezone: "Europe/Berlin",
    command: ["index"],
    catchUp: "12h",
    enabled: true,
    ...overrides,
  });

describe("a schedule", () => {
  test.each([
    [["index", "--rebuild"]],
    [["embed", "--limit", "10"]],
    [["ask", "What about it?", "--wait"]],
    [["summarize", "allowed/**/*", "--changed", "--batch-name", "{schedule} {planned}"]],
    [["digest", "tonight {date}"]],
    [["extract", "allowed/**/*", "--preset", "actions"]],
    [["enqueue", "tonight.jsonl"]],
    [["batch", "rerun", "tonight", "--stale"]],
    [["batch", "report", "tonight"]],
    [["batch", "export", "tonight", "--output", "out-{date}.jsonl"]],
    [["batch", "prune"]],
    [["doctor"]],
    [["backup", "backups/{date}.tar.gz"]],
  ])("may run %j", (command) => {
    expect(problemsOf({ command })).toEqual([]);
  });

  test.each([
    [["worker"], "expected one of sync, index, embed"],
    [["up"], "expected one of sync, index, embed"],
    [["schedule", "run", "nightly"], "expected one of sync, index, embed"],
    [["sql", "select 1"], "expected one of sync, index, embed"],
    [["migrate"], "expected one of sync, index, embed"],
    [["batch", "cancel", "tonight"], "expected one of sync, index, embed"],
    [["batch"], "expected one of sync, index, embed"],
    [["index && rm"], "expected one of sync, index, embed"],
    [["index", "--rebiuld"], "unknown option '--rebiuld'"],
    [["index", "now"], "too many arguments"],
    [["enqueue"], "missing required argument 'file'"],
    [["enqueue", "-", "--no-strict"], "nobody writes to its stdin; expected a file"],
    [["summarize", "--files-from", "-"], "nobody writes to its stdin; expected a file"],
    [
      ["extract", "a.md", "--preset", "classify", "--examples", "-"],
      "nobody writes to its stdin; expected a file",
    ],
    [["embed", "--limit", "many"], '"many" is not a whole number'],
    [["index", "--help"], "--help does nothing"],
    [["index", "--config", "other.yaml"], "--config is the worker's"],
    [["index", "--ollama-base-url", "http://h"], "--ollama-base-url is the worker's"],
    [["enqueue", "tonight-{day}.jsonl"], "{day} is no placeholder"],
  ])("may not run %j", (command, reason) => {
    expect(problemsOf({ command })).toEqual([
      { key: "command", text: expect.stringContaining(reason) },
    ]);
  });

  const million = 1_000_000;
  test.each<readonly [string, Partial<ScheduleEntry>, string, string]>([
    ["a name that drives a terminal", { name: "a\u001b[31m\nb" }, "name", "lower-case letters"],
    ["a name without end", { name: "a".repeat(million) }, "name", "up to 64"],
    ["a field without end", { cron: `${"1,".repeat(million)}1 * * * *` }, "cron", "at most 500"],
    ["a range beyond any hour", { cron: "0 0-99999999999 * * *" }, "cron", "constraint error"],
    ["a day that never comes", { cron: "0 0 30 2 *" }, "cron", "invalid explicit day"],
    ["a NUL among its fields", { cron: "0 1 * * *\0" }, "cron", "five fields"],
    ["a zone without end", { timezone: "A/".repeat(million) }, "timezone", "at most 100"],
    ["a word with NUL", { command: ["ask", "a\0b"] }, "command", "word 2 holds a NUL"],
    ["a word with half a pair", { command: ["ask", "\ud800"] }, "command", "half of a surrogate"],
    [
      "a word without end",
      { command: ["ask", "x".repeat(million)] },
      "command",
      "100,000 characters",
    ],
    [
      "words without end",
      { command: ["ask", ...Array<string>(million).fill("x")] },
      "command",
      "1,000 words",
    ],
    ["a catch-up without end", { catchUp: `${"9".repeat(million)}d` }, "catch_up", "a duration"],
  ])("with %s is refused in few words and little time", (_, overrides, key, text) => {
    const problems = problemsOf(overrides);
    expect(problems).toEqual([{ key, text: expect.stringContaining(text) }]);
    expect(problems[0]?.text.length).toBeLessThan(600);
    expect(timeTaken(() => problemsOf(overrides), 200)).toBeLessThan(200);
  });

  test.each([
    [{ name: "Nightly index" }, "name"],
    [{ cron: "never" }, "cron"],
    [{ timezone: "Berlin" }, "timezone"],
    [{ catchUp: "half a day" }, "catch_up"],
    [{ catchUp: "0h" }, "catch_up"],
  ])("with %j is refused for that key", (overrides, key) => {
    expect(problemsOf(overrides).map((problem) => problem.key)).toEqual([key]);
  });
});

test.each([
  ["0", 0],
  ["90s", 90_000],
  ["90m", 5_400_000],
  ["12h", 43_200_000],
  ["2d", 172_800_000],
  ["-1h", undefined],
  ["", undefined],
])("a catch_up of %j is %j milliseconds", (text, expected) => {
  expect(parseCatchUp(text)).toBe(expected);
});

test("placeholders are filled by the schedule's clock, and other braces stay", () => {
  const at = {
    schedule: "nightly",
    plannedAt: new Date("2026-11-21T23:30:00Z"),
    timezone: "Asia/Kolkata",
  };
  const words = ["{schedule}/{date}", "{planned}", "{other} {}", "{constructor}"];
  expect(fillPlaceholders(words, at)).toEqual([
    "nightly/2026-11-22",
    "2026-11-22T05:00:00+05:30",
    "{other} {}",
    "{constructor}",
  ]);
});
