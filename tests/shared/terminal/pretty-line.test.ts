import { expect, test } from "@jest/globals";
import { pino } from "pino";
import { prettyLine } from "../../../src/shared/terminal/pretty-line.ts";

/** What is logged, as a terminal shows it, with another clock. */
function logged(log: (logger: pino.Logger) => void): string {
  const lines: string[] = [];
  const timestamp = pino.stdTimeFunctions.isoTime;
  const write = (line: string) => lines.push(prettyLine(line));
  log(pino({ level: "trace", base: null, timestamp }, { write }));
  return lines.join("").replaceAll(/^\[\d\d:\d\d:\d\d\]/gm, "[12:00:00]");
}
const withoutColors = (text: string) => text.replaceAll(/\u001b\[\d+m/g, "");
const plain = (log: (logger: pino.Logger) => void) => withoutColors(logged(log));

test("a line has the time, the level and the message, and each field below it", () => {
  const shown = plain((logger) => {
    logger.info({ job: "ab12", ms: 12, codes: ["A"], host: null, none: [] }, "job ended");
  });
  expect(shown).toBe(`[12:00:00] INFO: job ended
    job: "ab12"
    ms: 12
    codes: [
      "A"
    ]
    host: null
    none: []
`);
});

test("a line without a message and a level of its own are shown", () => {
  expect(
    plain((logger) => {
      logger.trace({ a: 1 });
    }),
  ).toBe("[12:00:00] TRACE:\n    a: 1\n");
  const line = JSON.stringify({ time: "2026-11-29T12:00:00Z", level: 35, msg: "x" });
  expect(withoutColors(prettyLine(line))).toMatch(/^\[\d\d:\d\d:\d\d\] 35: x\n$/);
});

test("the time is that of the machine", () => {
  const now = new Date();
  const line = JSON.stringify({ time: now.toISOString(), level: 30, msg: "x" });
  expect(prettyLine(line).slice(1, 9)).toBe(now.toTimeString().slice(0, 8));
});

test("a level has its colour, and the message another", () => {
  expect(
    logged((logger) => {
      logger.warn("low");
    }),
  ).toBe("[12:00:00] \u001b[33mWARN\u001b[39m:\u001b[36m low\u001b[39m\n");
  expect(
    logged((logger) => {
      logger.error("low");
    }),
  ).toContain("\u001b[31mERROR");
});

test("stacks have their lines, also those of errors in an error", () => {
  const inner = Object.assign(new Error("inner"), { stack: "Error: inner\n    at b (b.ts:2)" });
  const outer = Object.assign(new AggregateError([inner], "outer"), {
    stack: "AggregateError: outer\n    at a (a.ts:1)",
    code: "ECONNRESET",
  });
  expect(
    plain((logger) => {
      logger.error({ err: outer }, "job broke");
    }),
  ).toBe(`[12:00:00] ERROR: job broke
    err: {
      "type": "AggregateError",
      "message": "outer",
      "stack":
          AggregateError: outer
              at a (a.ts:1)
      "aggregateErrors": [
        {
          "type": "Error",
          "message": "inner",
          "stack":
              Error: inner
                  at b (b.ts:2)
        }
      ],
      "code": "ECONNRESET"
    }
`);
});

test("no value drives the terminal, and none but a stack has lines", () => {
  const hostile = "a\u001b[2J\u202eb\n[12:00:00] INFO: forged\r\nmore";
  const err = Object.assign(new Error(hostile), { stack: `Error: ${hostile}` });
  const shown = plain((logger) => {
    logger.info({ [hostile]: hostile, list: [{ [hostile]: hostile }], err }, hostile);
  });
  expect(shown).not.toMatch(/[\u001b\u202e\r]/);
  expect(shown.match(/^\[12:00:00\] INFO/gm)).toHaveLength(1);
  expect(shown).toContain("[12:00:00] INFO: a␛[2J<U+202E>b ↵ [12:00:00] INFO: forged ↵ more\n");
  expect(shown).toContain("\n          [12:00:00] INFO: forged");
});
