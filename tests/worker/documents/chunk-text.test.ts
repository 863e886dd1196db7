import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { NO_PLACES } from "../../../src/worker/documents/places.ts";
import { packPlaces } from "../../support/pack-places.ts";
import { chunkText } from "../../../src/worker/documents/chunk-text.ts";
import type { Format } from "../../../src/worker/documents/formats/format.ts";
import { JSON_TEXT } from "../../../src/worker/documents/formats/json.ts";
import { MARKDOWN } from "../../../src/worker/documents/formats/markdown.ts";
import { PLAIN } from "../../../src/worker/documents/formats/plain.ts";

const SETTINGS = { maxChars: 120, overlap: 30 };
const cut = (text: string, format: Format = MARKDOWN) =>
  chunkText(text, { format, firstLine: 0, places: NO_PLACES }, SETTINGS).chunks;
const outline = (text: string) =>
  cut(text).map(({ headingPath, text: slice }) => [headingPath, slice]);

describe("chunks of Markdown", () => {
  test("a heading opens the chunk that follows it, and the path names all headings above", () => {
    expect(outline("# Trip\nIntro.\n\n## Train ##\nBy rail.\n\n# Home\nBack.\n")).toEqual([
      ["Trip", "# Trip\nIntro."],
      ["Trip > Train", "## Train ##\nBy rail."],
      ["Home", "# Home\nBack."],
    ]);
  });

  test("a heading without text goes along with a deeper one, and stands alone before any other", () => {
    expect(outline("# A\n\n## B\n\ntext\n\n## C\n## D\n")).toEqual([
      ["A > B", "# A\n\n## B\n\ntext"],
      ["A > C", "## C"],
      ["A > D", "## D"],
    ]);
  });

  test("setext headings count, a rule and a table do not", () => {
    expect(outline("Title\n=====\n\nab\n\nPart\n---\ncd\n\n---\n\n|a|b|\n|-|-|\n|1|2|\n")).toEqual([
      ["Title", "Title\n=====\n\nab"],
      ["Title > Part", "Part\n---\ncd\n\n---\n\n|a|b|\n|-|-|\n|1|2|"],
    ]);
  });

  test.each([
    ["a fence", "```sh\n# no\n\n# no\n```"],
    ["a longer fence around a shorter one", "````\n```\n# no\n```\n# no\n````"],
    ["a fence of tildes with backticks in it", "~~~\n```\n# no\n~~~"],
    ["a fence that is never closed", "```\n# no\n\n# no"],
    ["a fence in a list item", "- item\n\n  ```\n  # no\n  ```\n  after"],
    ["an indented line", "text\n\n    # no"],
    ["a heading inside a list item", "- item\n\n  # no"],
    ["a quote", "> text\n> # no\n> ```"],
    ["a comment", "<!-- a\n\n# no\n-->"],
    ["a hash without a blank", "#no\n\n####### no"],
    ["a rule under a list", "- item\n---\n"],
  ])("no heading is seen in %s", (_name, markdown) => {
    expect(outline(`# Title\n\n${markdown}\n`).map(([path]) => path)).toEqual(["Title"]);
  });

  test("a fence ends with the list item that holds it", () => {
    expect(outline("- item\n  ```\n  code\n\n# Next\n").map(([path]) => path)).toEqual([
      null,
      "Next",
    ]);
  });

  test("offsets count code points and a byte order mark, lines count from 1", () => {
    expect(cut("\uFEFF# 🚂 A\r\n\r\nüber 🎉\r\n\r\n# B\r\nend")).toMatchObject([
      { startChar: 1, endChar: 16, lineStart: 1, lineEnd: 3, headingPath: "🚂 A" },
      { startChar: 20, endChar: 28, lineStart: 5, lineEnd: 6, text: "# B\r\nend" },
    ]);
  });

  test("a long paragraph is cut at ends of sentences, each piece beginning a little before the cut", () => {
    const sentence = "Ten words stand here so that a sentence is there.";
    const [first, second] = cut(`# T\n${Array(5).fill(sentence).join(" ")}`);
    expect(first?.text).toMatch(/^# T\nTen .* there\.$/s);
    expect(second?.startChar).toBeLessThan(first?.endChar ?? 0);
    expect(second?.text).toMatch(/^[a-z]+ .*there\.$/i);
  });

  test.each([
    ["Japanese", "箱根の倉庫には古い地図が三十二枚ある".repeat(30), 20],
    ["Japanese with punctuation", "倉庫には地図がある。鍵は棚の上、".repeat(30), 10],
    ["base64", "QmFzZTY0IGlzIG9uZSBsb25nIHdvcmQ".repeat(20), 20],
    ["characters of two units", "🚋🌙".repeat(150), 20],
    ["letters with marks of their own", "q\u0323\u0307".repeat(120), 20],
  ])("a long text without blanks overlaps as well: %s", (_, text, least) => {
    const chunks = cut(text, PLAIN);
    expect(chunks.length).toBeGreaterThan(3);
    for (const [at, { startChar, text: slice }] of chunks.entries()) {
      const before = chunks[at - 1];
      if (before !== undefined)
        expect(before.endChar - startChar).toBeGreaterThanOrEqual(least / 2);
      expect(slice.isWellFormed()).toBe(true);
      expect(slice).not.toMatch(/^\p{M}/u);
    }
    expect(chunks.at(-1)?.text.endsWith(text.slice(-5))).toBe(true);
  });

  test("an overlap as large as a chunk still gets on", () => {
    const settings = { maxChars: 100, overlap: 100 };
    const { chunks } = chunkText(
      "word ".repeat(1_000),
      { format: PLAIN, firstLine: 0, places: NO_PLACES },
      settings,
    );
    expect(chunks.length).toBeLessThan(150);
  });

  test("a list and a fence are cut between lines", () => {
    const items = Array.from({ length: 12 }, (_, index) => `- item number ${index} of them`);
    for (const { text } of cut(items.join("\n"))) expect(text).toMatch(/ of them$/);
  });

  test("a text without a blank is cut hard, and never through a surrogate pair", () => {
    const chunks = cut(`x${"🎉".repeat(200)}`);
    expect(chunks.length).toBeGreaterThan(3);
    expect(chunks.every(({ text }) => text.isWellFormed())).toBe(true);
  });

  test("a heading of a megabyte is not repeated in every path", () => {
    const [chunk] = cut(`# ${"long ".repeat(200_000)}\n\ntext`);
    expect(chunk?.headingPath?.length).toBe(200);
  });
});

describe("chunks of other formats", () => {
  test("plain text is cut between paragraphs and has no headings", () => {
    const paragraph = "# word ".repeat(12).trim();
    expect(cut(`${paragraph}\n\n${paragraph}\n`, PLAIN)).toMatchObject([
      { headingPath: null, text: paragraph, lineStart: 1 },
      { headingPath: null, text: paragraph, lineStart: 3 },
    ]);
  });

  const record = (id: number) => ({ id, name: 'a "quoted" } brace', more: "text".repeat(8) });
  const json = (value: unknown, indent?: number) =>
    cut(JSON.stringify(value, null, indent), JSON_TEXT).map(({ headingPath, text }) => ({
      headingPath,
      text,
    }));

  test.each([undefined, 1])(
    "JSON is cut between the entries of what is too long, named by JSON pointers (indent %j)",
    (indent) => {
      const found = json({ "a/b": [record(1), record(2)], c: record(3) }, indent);
      expect(found.map(({ headingPath }) => headingPath)).toEqual(["/a~1b/0", "/a~1b/1", "/c"]);
      expect(found.map(({ text }) => /"id": ?(\d)/.exec(text)?.[1])).toEqual(["1", "2", "3"]);
      expect(found[0]?.text).toMatch(/^\{\s*"a\/b": ?\[/);
      expect(found[2]?.text).toMatch(/\}\s*\}$/);
    },
  );

  test("a chunk of JSON has its pointer as its locator, unless it was cut", () => {
    const long = "k".repeat(300);
    const value = { "a/b": [record(1), record(2)], c: record(3), [long]: record(4) };
    const chunks = cut(JSON.stringify(value), JSON_TEXT);
    expect(chunks.map(({ locator }) => locator)).toEqual([
      { pointer: "/a~1b/0" },
      { pointer: "/a~1b/1" },
      { pointer: "/c" },
      ...chunks.slice(3).map(() => null),
    ]);
    expect(chunks.at(-1)?.headingPath).toMatch(/^\/k+$/);
  });

  test("a chunk is located by the place of the text that it begins with", () => {
    const text = `${"First. ".repeat(15)}\n\n${"Second. ".repeat(14)}\n`;
    const places = packPlaces([
      { start: 0, locator: { page: 1 } },
      { start: text.indexOf("Second"), locator: { page: 2 } },
    ]);
    const { chunks } = chunkText(text, { format: PLAIN, firstLine: 0, places }, SETTINGS);
    expect(chunks.map(({ locator }) => locator)).toEqual([{ page: 1 }, { page: 2 }]);
  });

  test("small entries share a chunk, named by what holds them", () => {
    const found = json({ numbers: Array.from({ length: 60 }, (_, at) => at), last: "x" });
    expect(found.map(({ headingPath }) => headingPath)).toEqual(["/numbers", "/numbers", "/last"]);
  });

  test("a long string is cut and keeps its pointer; a short document has none", () => {
    const found = json({ story: { text: "One sentence stands here. ".repeat(10) } });
    expect(new Set(found.map(({ headingPath }) => headingPath))).toEqual(new Set(["/story/text"]));
    expect(json({ a: 1 })).toEqual([{ headingPath: null, text: '{"a":1}' }]);
  });

  test("lines of JSON are cut between the lines", () => {
    const lines = [1, 2, 3].map((id) => JSON.stringify(record(id))).join("\n");
    expect(cut(lines, JSON_TEXT).map(({ lineStart, lineEnd }) => [lineStart, lineEnd])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
  });

  test("what a long line of JSON holds is named by its line too", () => {
    const text = `{"a":1}\n${JSON.stringify([record(1), { b: record(2) }])}\n`;
    const found = cut(text, JSON_TEXT).map(({ headingPath }) => headingPath);
    expect(found).toEqual([null, "/1/0", "/1/1"]);
  });

  test("an empty text and one of blanks have no chunks", () => {
    expect([
      cut(""),
      cut("\uFEFF"),
      cut(" \n\t\n"),
      cut("\n\n", PLAIN),
      cut("", JSON_TEXT),
    ]).toEqual(Array(5).fill([]));
  });
});

const LINES = fc.constantFrom(
  "# One",
  "## Two",
  "text of a line",
  "===",
  "---",
  "```",
  "~~~",
  "- item",
  "  more of it",
  "> quoted",
  "",
  "",
  "| a | b |",
  "    code 🎉",
  "<!--",
  "-->",
  "a".repeat(150),
  "Two sentences. And 🎉 one more, that is rather long and goes on for a while.",
);

describe("chunks of any text", () => {
  test("are exact slices in order, not too long, and leave nothing out but blanks", () => {
    const texts = fc
      .tuple(
        fc.array(LINES, { maxLength: 40 }),
        fc.constantFrom("\n", "\r\n", "\r"),
        fc.constantFrom("", "\uFEFF"),
      )
      .map(([lines, end, mark]) => mark + lines.join(end));
    fc.assert(
      fc.property(texts, fc.constantFrom(MARKDOWN, PLAIN, JSON_TEXT), (text, format) => {
        const points = Array.from(text);
        const covered = new Set<number>();
        for (const chunk of cut(text, format)) {
          expect(points.slice(chunk.startChar, chunk.endChar).join("")).toBe(chunk.text);
          expect(chunk.text.length).toBeLessThanOrEqual(SETTINGS.maxChars);
          const before = points.slice(0, chunk.startChar).join("");
          expect(chunk.lineStart).toBe(before.split(/\r\n|\r|\n/).length);
          expect(chunk.lineEnd).toBe((before + chunk.text).split(/\r\n|\r|\n/).length);
          for (let at = chunk.startChar; at < chunk.endChar; at += 1) covered.add(at);
        }
        const left = points.filter((point, at) => !covered.has(at) && /[^\s\uFEFF]/.test(point));
        expect(left).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
