import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { compilePattern, parsePattern } from "../../../src/shared/schema/linear-pattern.ts";

function compiled(pattern: string) {
  const read = parsePattern(pattern);
  if (read.kind === "fault") throw new Error(read.reason);
  return compilePattern(read.source);
}

describe("a pattern is refused, by its words and the place in it,", () => {
  test.each([
    ["that looks ahead", "^(?=a)b", "(?= at character 2)"],
    ["that looks ahead for what is not there", "a(?!b)", "(?! at character 2)"],
    ["that looks back", "(?<=a)b", "(?<= at character 1)"],
    ["that looks back for what is not there", "x(?<!a)b", "(?<! at character 2)"],
    ["that refers back by number", "(a)\\1", "(\\1 at character 4)"],
    ["that refers back by name", "(?<x>a)\\k<x>", "(\\k< at character 8)"],
    ["that is none", "(", "is no regular expression"],
    ["that is too long", "a".repeat(1_001), "is longer than 1,000 characters"],
    ["with too many repeats", "(?:a{100}){30}", "is too large with its repeats written out"],
    ["that is large by a few signs", "(?:.{0,30}x){0,900}", "is too large"],
    ["with a count beyond the engine's", "a{1001}", "repeats something more than 1,000 times"],
    ["with a class that the engine lacks", "\\p{ASCII}", "not known to the engine"],
  ])("%s", (_, pattern, reason) => {
    const read = parsePattern(pattern);
    expect(read.kind === "fault" && read.reason).toContain(reason);
    expect(read.kind === "fault" && read.reason).toContain(
      JSON.stringify(pattern.slice(0, 80)).slice(1, -1),
    );
  });
});

test("a pattern means what it means in JavaScript", () => {
  const atom = fc.constantFrom(
    ...[
      "a",
      "b",
      ".",
      "\\s",
      "\\S",
      "\\d",
      "\\D",
      "\\w",
      "\\W",
      "[ab]",
      "[^a]",
      "[^]",
      "[]",
      "[[]",
    ],
    ...["[\\s\\]]", "[^\\S]", "[\\S]", "[\\b\\-]", "[[^]", "[(?<a]", "[.*?]", "[\\w-]", "[^\\W]"],
    ...[
      "\\u{1F600}",
      "\\ud83d\\ude00",
      "[\\u{1F600}-\\u{1F64F}]",
      "\\u00e9",
      "\\x41",
      "\\cA",
      "\\0",
    ],
    ...[
      "(?:a|b)",
      "(a)",
      "(?<n>b)",
      "\\b",
      "\\B",
      "^",
      "$",
      "|",
      "\\/",
      "\\^",
      "\\.",
      "\\v",
      "\\t",
    ],
    ...["\\p{L}", "\\P{L}", "[\\p{L}\\d]", "\\p{Script=Latin}", "\\p{Letter}", "\\p{Lu}"],
  );
  const repeat = fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "+?");
  const letters = fc.constantFrom(
    ...["a", "b", "A", "é", "😀", "1", "_", " ", "-", "[", "]", "^", ".", "\\", "/", "\u0001"],
    ...["\n", "\r", "\t", "\v", "\b", "\u00a0", "\u2028", "\u3000", "\ufeff"],
  );
  const pieces = fc.array(fc.tuple(atom, repeat), { maxLength: 6 });
  const texts = fc.array(letters, { maxLength: 6 }).map((all) => all.join(""));
  fc.assert(
    fc.property(pieces, texts, (parts, text) => {
      let names = 0;
      const source = parts
        .flat()
        .join("")
        .replace(/\(\?<n>/g, () => `(?<n${(names += 1)}>`);
      // V8 looks for \B between the halves of a character, too, where ECMAScript has no place: there ☺ stands for 😀.
      const whole = (words: string): string =>
        source.includes("\\B") ? words.replace(SMILE, "☺") : words;
      const native = nativeOf(whole(source));
      if (native === undefined) return;
      expect([source, text, compiled(source).test(text)]).toEqual([
        source,
        text,
        native.test(whole(text)),
      ]);
    }),
    { numRuns: 3_000 },
  );
});

/** "😀" as a text has it, and in each of the ways in which the patterns above write it. */
const SMILE = /😀|\\u\{1F600\}(?:-\\u\{1F64F\})?|\\ud83d\\ude00/gu;

function nativeOf(source: string): RegExp | undefined {
  try {
    return new RegExp(source, "u");
  } catch {
    return undefined;
  }
}
