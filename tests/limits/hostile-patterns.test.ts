import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { isGlob, parseGlob } from "../../src/shared/files/parse-glob.ts";
import { matchTrigger } from "../../src/shared/text/match-trigger.ts";
import { compilePattern, parsePattern } from "../../src/shared/schema/linear-pattern.ts";
import { addMargins } from "../../src/worker/documents/formats/sheet-margins.ts";
import { addRules, isIgnored, NO_RULES, rulesBelow } from "../../src/worker/index/ignore-rules.ts";
import { durationMs } from "../../src/worker/models/keep-alive.ts";
import { expectLinear, LONGEST_TURN_MS, timeTaken } from "../support/time-taken.ts";

function compiled(pattern: string) {
  const read = parsePattern(pattern);
  if (read.kind === "fault") throw new Error(read.reason);
  return compilePattern(read.source);
}

const LARGEST_REPLY = 65_536;

describe("a pattern that a backtracking engine never ends with", () => {
  test.each([
    ["57 characters that stopped a worker", `^${"a?".repeat(24)}a{232}x$`],
    ["a repeat that is repeated", "^(a+)+$"],
    ["alternatives that overlap", "^(a|a|aa)*$"],
    ["many repeats in a row", `^${"a*".repeat(40)}$`],
  ])("is taken at once, and tried in time in proportion to a long text: %s", async (_, pattern) => {
    expect(timeTaken(() => compiled(pattern), LONGEST_TURN_MS)).toBeLessThan(LONGEST_TURN_MS);
    const taken = compiled(pattern);
    const textOf = (chars: number) => `${"a".repeat(chars)}!`;
    expect(taken.test(textOf(LARGEST_REPLY))).toBe(false);
    await expectLinear(LARGEST_REPLY / 4, (chars) => {
      const text = textOf(chars);
      return () => taken.test(text);
    });
  });
});

test.each([
  ["a glob that opens sets", isGlob, "["],
  ["a glob that opens lists", isGlob, "{"],
  ["a glob of lists without a choice", isGlob, "{."],
  ["a time to keep a model without a unit", durationMs, "1"],
])("is told in time in proportion to its length: %s", async (_, read, piece) => {
  await expectLinear(LARGEST_REPLY, (chars) => {
    const text = piece.repeat(chars / piece.length);
    return () => read(text);
  });
});

test("what is printed above a sheet is read in time in proportion to its length", async () => {
  const builder = { add: () => undefined };
  await expectLinear(LARGEST_REPLY, (chars) => {
    const xml = `<oddHeader>${"a".repeat(chars)}</oddHeader>`;
    return () => {
      addMargins(xml, builder);
    };
  });
});

test("the pieces of a pattern that are large together are counted before they are made", () => {
  const piece = fc.constantFrom("a", "\\p{L}", ".", "[ab]", "(?:a|b)", "(?:", ")", "|");
  const repeat = fc.constantFrom("", "*", "{999}", "{0,500}", "{30,}", "?");
  const patterns = fc
    .array(fc.tuple(piece, repeat), { maxLength: 60 })
    .map((all) => all.flat().join(""));
  fc.assert(
    fc.property(patterns, (pattern) => {
      expect(timeTaken(() => parsePattern(pattern), LONGEST_TURN_MS)).toBeLessThan(LONGEST_TURN_MS);
    }),
    { numRuns: 100 },
  );
});

describe("a glob", () => {
  function takes(glob: string, path: string): boolean | string {
    const matches = parseGlob(glob);
    return typeof matches === "function" ? matches(path) : matches.problem;
  }

  const hostile = [
    "**/a/**/a/**/b",
    "*a*a*a*a*a*a*b",
    "**/*a*/**/*a*/**/*a*/**/c",
    `${"{a,b}".repeat(7)}/**/x`,
    `${"**/*/".repeat(50)}b`,
    "*a".repeat(250),
    "{".repeat(500),
    "[".repeat(500),
    "{a,".repeat(160),
  ];
  test.each(hostile)(
    "%.25s takes time in proportion to paths of up to 4,000 characters",
    async (glob) => {
      for (const piece of ["a/", "a", "aa/"]) {
        await expectLinear(1_000, (chars) => {
          const path = `${piece.repeat(chars / piece.length)}c`;
          return () => takes(glob, path);
        });
      }
    },
  );
});

describe("a trigger", () => {
  test.each([
    ["words", "lorem ipsum dolor ", (place: number) => `word${place}`],
    ["letters with accents", "über straße ", (place: number) => `wort${place}`],
    ["one word again and again", "a ", (place: number) => `${"a ".repeat(5)}${place}`],
    ["names of files", "x.pdf! ", (place: number) => `x pdf ${place}`],
    ["words without blanks", "概要x ", (place: number) => `漢${place}`],
  ])("takes no longer for a hundred than for one, in much text: %s", (_name, piece, triggerOf) => {
    const text = piece.repeat(Math.floor(250_000 / piece.length));
    const hundred = Array.from({ length: 100 }, (_, place) => triggerOf(place));
    const one = timeTaken(() => matchTrigger(text, hundred.slice(0, 1)));
    const most = 15 + 3 * one;
    expect(timeTaken(() => matchTrigger(text, hundred), most)).toBeLessThan(most);
  });
});

describe("rules of 64 KB", () => {
  const name = "a".repeat(255);
  const rulesOf = (pattern: string) => {
    const lines = Math.max(1, Math.floor(65_536 / (pattern.length + 1)));
    return addRules(
      NO_RULES,
      Array.from({ length: lines }, () => pattern),
    );
  };

  test.each([
    ["many stars", "*a*a*a*a*a*b"],
    ["a long row after a star", `*${"a".repeat(127)}b`],
    ["folders in folders", "**/a*/**/a*/**/a*/**/*a*a*b"],
    ["folders after any", `**/*${"a".repeat(127)}b/**/x`],
    ["sets", "*[a-z]*[a-z]*[!c]b"],
    ["long sets", `*[${"bc".repeat(10_000)}]*[${"bc".repeat(10_000)}]*b`],
    ["one name of all", "*a".repeat(32_000)],
    ["folders without end", `${"**/a*/".repeat(10_000)}b`],
  ])("are read, and decide about an entry, in little time: %s", (_name, pattern) => {
    expect(timeTaken(() => rulesOf(pattern), LONGEST_TURN_MS)).toBeLessThan(LONGEST_TURN_MS);
    let rules = rulesOf(pattern);
    for (let level = 0; level < 16; level += 1) {
      const deciding = () => isIgnored(rules, name, "file");
      const below = () => rulesBelow(rules, name);
      expect(timeTaken(deciding, LONGEST_TURN_MS)).toBeLessThan(LONGEST_TURN_MS);
      expect(timeTaken(below, LONGEST_TURN_MS)).toBeLessThan(LONGEST_TURN_MS);
      rules = below();
    }
  });

  test("take time in proportion to the stars of a pattern and to the name", async () => {
    const deciding = (stars: number, chars: number) => {
      const rules = addRules(NO_RULES, [`${"*a".repeat(stars)}*b`]);
      const long = "a".repeat(chars);
      return () => isIgnored(rules, long, "file");
    };
    await expectLinear(16, (stars) => deciding(stars, 2_000));
    await expectLinear(500, (chars) => deciding(64, chars));
  });
});
