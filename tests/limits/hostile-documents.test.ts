import { describe, expect, test } from "@jest/globals";
import { createVocabularies } from "../../src/shared/store/index/vocabulary.ts";
import { splitIntoParts } from "../../src/worker/answer/parts.ts";
import { chunkText } from "../../src/worker/documents/chunk-text.ts";
import type { Format } from "../../src/worker/documents/formats/format.ts";
import { JSON_TEXT } from "../../src/worker/documents/formats/json.ts";
import { MARKDOWN } from "../../src/worker/documents/formats/markdown.ts";
import { numberStyleOf } from "../../src/worker/documents/formats/number-format.ts";
import { isValue } from "../../src/worker/documents/formats/table-rows.ts";
import { parseFrontmatter } from "../../src/worker/documents/frontmatter.ts";
import { splitLines } from "../../src/worker/documents/lines.ts";
import { NO_PLACES } from "../../src/worker/documents/places.ts";
import { scanMarkdown } from "../../src/worker/documents/formats/markdown.ts";
import { prepareDocument } from "../../src/worker/documents/prepare-document.ts";
import { countCodePoints } from "../../src/worker/text/clean-text.ts";
import { detectLanguage } from "../../src/worker/text/detect-language.ts";
import { neutraliseText } from "../../src/worker/text/neutralise-text.ts";
import { sentenceEnds } from "../../src/worker/text/sentences.ts";
import { isDate } from "../../src/worker/verify/bindings/figures-in.ts";
import { expectConstant, expectLinear } from "../support/time-taken.ts";

describe("sentenceEnds", () => {
  test.each(["a. ", ". ", ".", "[", ".[1]", "3. Mai ", "U.S. ", "«"])(
    "takes time in step with the length of %j again and again",
    async (piece) => {
      await expectLinear(50_000, (chars) => {
        const text = `${piece.repeat(chars / piece.length)}a`;
        return () => sentenceEnds(text);
      });
    },
  );
});

describe("a cell", () => {
  test.each([
    ["digits before a word", "", "1", "word"],
    ["digits behind a currency", "EUR ", "1", "word"],
  ])("of %s is known as a value or not in time in proportion to it", async (_, ...parts) => {
    const [before, piece, after] = parts;
    await expectLinear(10_000, (chars) => {
      const cell = before + piece.repeat(chars) + after;
      return () => isValue(cell);
    });
  });

  test("has a format of brackets, which is read in time in proportion to it", async () => {
    await expectLinear(10_000, (chars) => {
      const code = "[".repeat(chars);
      return () => numberStyleOf(code);
    });
  });
});

describe("isDate", () => {
  test("takes time in proportion to the letters behind a date", async () => {
    await expectLinear(10_000, (chars) => {
      const value = `12 May 2026${"a".repeat(chars)}`;
      return () => isDate(value);
    });
  });
});

describe("detectLanguage", () => {
  test.each([
    ["one letter", "a"],
    ["marks", "\u0301"],
    ["the same word", "der "],
  ])(
    "takes no longer for a million characters of %s than for a quarter of them",
    async (_, piece) => {
      await expectConstant(250_000, (chars) => {
        const text = `a${piece.repeat(chars / piece.length)}`;
        return () => detectLanguage(text);
      });
    },
  );
});

describe("frontmatter", () => {
  const read = (yaml: string) => parseFrontmatter(`---\n${yaml}\n---\n# Text\n`);

  test.each(["[", "{a: ", "- ", "&a *a ", "? ", "a: ", "!!a ", "[\n", "{a,"])(
    "64 K of %j neither end the process nor hold it up, below the size limit and above it",
    async (part) => {
      for (const before of ["", "a: ", "a:\n  "]) {
        const yamlOf = (chars: number) => before + part.repeat(chars / part.length);
        for (const longest of [16_000, 65_536]) {
          expect(read(yamlOf(longest))).toMatchObject({ firstLine: 0 });
          await expectLinear(longest / 4, (chars) => {
            const yaml = yamlOf(chars);
            return () => read(yaml);
          });
        }
      }
    },
  );
});

describe("chunkText", () => {
  const SETTINGS = { maxChars: 120, overlap: 30 };
  const cut = (text: string, format: Format = MARKDOWN) =>
    chunkText(text, { format, firstLine: 0, places: NO_PLACES }, SETTINGS).chunks;

  test.each(["[", '{"a":', "[0,[", '{"a":1,"b":[', '["', ","])(
    "a quarter of a megabyte of %j takes time in proportion to its length",
    async (part) => {
      await expectLinear(62_500, (chars) => {
        const text = part.repeat(chars / part.length);
        return () => cut(text, JSON_TEXT);
      });
    },
  );

  test("takes time in proportion to its length, whatever it is made of", async () => {
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
      await expectLinear(25_000, (chars) => {
        const text = part.repeat(chars / part.length);
        return () => cut(text);
      });
    }
  });
});

describe("scanMarkdown", () => {
  test("takes time in proportion to its length for a definition that never ends", async () => {
    for (const part of ["[", "[a]: (", "[a]: b '", "[a]: <", "[a]: b\n"]) {
      await expectLinear(12_500, (times) => {
        const text = part.repeat(times);
        return () => scanMarkdown(splitLines(text), 0);
      });
    }
  });
});

test.each([
  ["one line of 2 MB", 2_000_000, "x"],
  ["2 MB of short lines", 2_000_000, "Trains run.\n"],
  ["2 MB of characters beyond the basic plane", 1_000_000, "🚲"],
])("%s is covered by parts in time in proportion to its length", async (_, longest, piece) => {
  const textOf = (length: number) => piece.repeat(length / piece.length);
  await expectLinear(longest / 16, (length) => {
    const shorter = textOf(length);
    return () => splitIntoParts(shorter, 4_000);
  });
  const text = textOf(longest);
  const parts = splitIntoParts(text, 4_000);
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
])("%s take time in proportion to their length", async (_, piece) => {
  await expectLinear(50_000, (chars) => {
    const text = piece.repeat(chars / piece.length);
    return () => neutraliseText(text);
  });
});

describe("a file of 2.5 MB on one line", () => {
  test("is cut in time in proportion to it, and no chunk repeats it", async () => {
    const preparing = (words: number) => {
      const text = `# ${"long ".repeat(words)}`;
      const document = {
        kind: "document",
        source: "ops",
        path: "notes/ops/a.md",
        extractor: "utf-8",
        places: NO_PLACES,
        text,
        sha256: "0".repeat(64),
        facts: { bytes: 0n, mtimeNs: 0n, ctimeNs: 0n, inode: 0n, device: 0n },
        settled: true,
        mail: null,
        attachments: 0,
        leftOut: {},
      } as const;
      const vocabulary = createVocabularies()("english");
      return () => prepareDocument(document, { maxChars: 1_200, overlap: 150 }, vocabulary);
    };
    await expectLinear(125_000, preparing);
    const { chunks, title } = preparing(500_000)();
    expect(title).toHaveLength(200);
    expect(Math.max(...chunks.map(({ words }) => words.length))).toBeLessThan(1_000);
  }, 30_000);
});

describe("countCodePoints", () => {
  test("counts 60 KB of mixed text in under a millisecond", () => {
    const text = "d\u00e9j\u00e0 vu \u{1F600} ".repeat(4_000);
    expect(countCodePoints(text)).toBe(10 * 4_000);
    const run = (): number => {
      const startedAt = performance.now();
      countCodePoints(text);
      return performance.now() - startedAt;
    };
    // The least of many: what else the machine does may make any one of them wait.
    const times = Array.from({ length: 200 }, run);
    expect(Math.min(...times)).toBeLessThan(1);
  });
});
