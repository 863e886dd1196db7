import { describe, expect, test } from "@jest/globals";
import { splitIntoParts } from "../../src/worker/answer/parts.ts";
import { chunkText } from "../../src/worker/documents/chunk-text.ts";
import type { Format } from "../../src/worker/documents/formats/format.ts";
import { JSON_TEXT } from "../../src/worker/documents/formats/json.ts";
import { MARKDOWN } from "../../src/worker/documents/formats/markdown.ts";
import { PLAIN } from "../../src/worker/documents/formats/plain.ts";
import { readFrontmatter } from "../../src/worker/documents/frontmatter.ts";
import { splitLines } from "../../src/worker/documents/lines.ts";
import { scanMarkdown } from "../../src/worker/documents/formats/markdown.ts";
import { countCodePoints as countInBytes } from "../../src/worker/sandbox/names.ts";
import { countCodePoints } from "../../src/worker/text/clean-text.ts";
import { detectLanguage } from "../../src/worker/text/detect-language.ts";
import { neutraliseText } from "../../src/worker/text/neutralise-text.ts";
import { sentenceEnds } from "../../src/worker/text/sentences.ts";
import { timeTaken } from "../support/time-taken.ts";

describe("sentenceEnds", () => {
  test.each(["a. ", ". ", ".", "[", ".[1]", "3. Mai ", "U.S. ", "«"])(
    "takes time in step with the length of %j again and again",
    (piece) => {
      const text = (length: number) => `${piece.repeat(length / piece.length)}a`;
      const short = timeTaken(() => sentenceEnds(text(200_000)), 5);
      const long = timeTaken(() => sentenceEnds(text(800_000)), 20);
      expect(long).toBeLessThan(Math.max(short, 5) * 12);
    },
  );
});

describe("detectLanguage", () => {
  test.each([
    ["one letter", "a".repeat(1_000_000)],
    ["marks", `a${"\u0301".repeat(1_000_000)}`],
    ["the same word", "der ".repeat(250_000)],
  ])("takes little time for a million characters of %s", (_, text) => {
    expect(timeTaken(() => detectLanguage(text), 100)).toBeLessThan(100);
  });
});

describe("frontmatter", () => {
  const read = (yaml: string) => readFrontmatter(`---\n${yaml}\n---\n# Text\n`);

  test.each(["[", "{a: ", "- ", "&a *a ", "? ", "a: ", "!!a ", "[\n", "{a,"])(
    "64 K of %j neither end the process nor hold it up, below the size limit and above it",
    (part) => {
      for (const chars of [16_000, 65_536]) {
        for (const before of ["", "a: ", "a:\n  "]) {
          const startedAt = performance.now();
          expect(read(before + part.repeat(chars / part.length))).toMatchObject({ firstLine: 0 });
          expect(performance.now() - startedAt).toBeLessThan(3_000);
        }
      }
    },
  );
});

describe("chunkText", () => {
  const SETTINGS = { maxChars: 120, overlap: 30 };
  const cut = (text: string, format: Format = MARKDOWN) =>
    chunkText(text, format, 0, SETTINGS).chunks;

  test.each(["[", '{"a":', "[0,[", '{"a":1,"b":[', '["', ","])(
    "a megabyte of %j takes no longer than any other text",
    (part) => {
      const text = part.repeat(1_000_000 / part.length);
      expect(timeTaken(() => cut(text, JSON_TEXT))).toBeLessThan(5_000);
    },
  );

  test("takes time in proportion to its length, whatever it is made of", () => {
    const hostile = [
      "# ",
      "- ",
      "> ",
      "`",
      "<!-- ",
      "a.",
      " \t",
      "|-",
      "* * ",
      "[",
      "~~~\n",
      "-\n",
    ];
    for (const part of hostile) {
      const text = part.repeat(400_000 / part.length);
      expect(timeTaken(() => cut(text))).toBeLessThan(2_000);
    }
  });
});

describe("scanMarkdown", () => {
  test("takes no longer for a definition that never ends than for prose", () => {
    const hostile = ["[", "[a]: (", "[a]: b '", "[a]: <", "[a]: b\n"].map((part) =>
      part.repeat(200_000),
    );
    const scanAll = () => hostile.map((text) => scanMarkdown(splitLines(text), 0));
    expect(timeTaken(scanAll)).toBeLessThan(5_000);
  });
});

test.each([
  ["one line of 2 MB", "x".repeat(2_000_000)],
  ["2 MB of short lines", "Trains run.\n".repeat(166_666)],
  ["2 MB of characters beyond the basic plane", "🚲".repeat(500_000)],
])("%s is covered by parts in time that its length bounds", (_, text) => {
  const parts = splitIntoParts(text, 4_000);
  expect(timeTaken(() => splitIntoParts(text, 4_000), 2_000)).toBeLessThan(2_000);
  expect(parts.length).toBeGreaterThanOrEqual(text.length / 4_000);
  expect(parts.at(-1)?.endChar).toBe(countCodePoints(text));
  expect(parts.reduce((total, part) => total + part.text.length, 0)).toBe(text.length);
});

test.each([
  ["one mark again and again", "<"],
  ["brackets that nothing closes", "[1, "],
  ["fences with joiners", "<\u200D"],
  ["lines that lead up to a footer", "> "],
  ["a footer's first words", "Scope  \n"],
  ["file names that go on", "[.a.b"],
  ["a script without blanks", "火车每小时运行一次，"],
  ["escapes", "\\u005"],
])("%s take time in proportion to their length", (_, piece) => {
  const timeOf = (chars: number): number => {
    const text = piece.repeat(chars / piece.length);
    return timeTaken(() => neutraliseText(text));
  };
  // What is short fits the caches of the processor, and is faster than its share.
  const short = Math.max(5, timeOf(400_000));
  // Four times the length: a quadratic pattern takes 16 times as long.
  expect(timeOf(1_600_000)).toBeLessThan(short * 12);
});

describe("countCodePoints", () => {
  test("counts 60 KB of mixed text in under a millisecond", () => {
    const text = "d\u00e9j\u00e0 vu \u{1F600} ".repeat(4_000);
    const bytes = Buffer.from(text);
    expect(countInBytes(text, bytes)).toBe(10 * 4_000);
    const run = (): number => {
      const startedAt = performance.now();
      countInBytes(text, bytes);
      return performance.now() - startedAt;
    };
    // The least of many: what else the machine does may make any one of them wait.
    const times = Array.from({ length: 200 }, run);
    expect(Math.min(...times)).toBeLessThan(1);
  });
});
