import { describe, expect, test } from "@jest/globals";
import { chunkText } from "../../../../src/worker/documents/chunk-text.ts";
import { formatOf } from "../../../../src/worker/documents/formats/registry.ts";
import { YAML } from "../../../../src/worker/documents/formats/yaml.ts";
import { NO_PLACES } from "../../../../src/worker/documents/places.ts";
import { expectLinear } from "../../../support/time-taken.ts";

const cut = (text: string, maxChars = 60) =>
  chunkText(
    text,
    { format: formatOf("a.yaml", text), firstLine: 0, places: NO_PLACES },
    { maxChars, overlap: 0 },
  ).chunks;

const placesOf = (text: string, maxChars?: number) =>
  cut(text, maxChars).map(({ locator, lineStart, lineEnd }) => [
    locator?.pointer ?? null,
    lineStart,
    lineEnd,
  ]);

const SERVICES = `# what runs
version: 2
services:
  # the desk
  web/desk:
    image: nightdesk:1
    ports: [8080, 8081, 8082, 8083, 8084]
  "two words":
    image: other
    command: run it with many words on one line
`;

describe("YAML", () => {
  test("is cut at its keys, named by JSON pointers", () => {
    expect(placesOf(SERVICES, 120)).toEqual([
      ["/version", 1, 2],
      ["/services/web~1desk", 3, 7],
      ["/services/two words", 8, 10],
    ]);
    expect(cut(SERVICES, 120)[1]?.headingPath).toBe("/services/web~1desk");
  });

  test("is one piece without a pointer where it fits into one", () => {
    expect(placesOf(SERVICES, 2_000)).toEqual([[null, 1, 10]]);
  });

  test("cuts lists, lists in lists and flow maps by number and key", () => {
    const text = [
      "- name: first with words that fill a line of the file",
      "- [one word, another word, a third word, and still a fourth word]",
      "- {a: some words of the first key, b: some words of the second key}",
    ].join("\n");
    expect(placesOf(text).map(([pointer]) => pointer)).toEqual([
      "/0",
      "/1",
      "/1/3",
      "/2/a",
      "/2/b",
    ]);
  });

  test("keeps documents apart, each under its number", () => {
    const text = "%YAML 1.2\n---\nkind: one\n...\n---\nkind: two\n---\n- three\n";
    expect(placesOf(text)).toEqual([
      ["/0", 1, 4],
      ["/1", 5, 6],
      ["/2", 7, 8],
    ]);
  });

  test("leaves no character out but blanks at the ends of pieces", () => {
    const text = `${SERVICES}text: |\n  A long text of several words,\n  and another line of it to be cut apart.\n# the end\n`;
    const chunks = cut(text);
    expect(
      chunks
        .map((chunk) => chunk.text)
        .join("")
        .replaceAll(/\s/g, ""),
    ).toBe(text.replaceAll(/\s/g, ""));
  });

  test("gives aliases as they are written, however often they are nested", () => {
    const levels = Array.from({ length: 30 }, (_, at) => {
      const lower = at === 0 ? "lol" : `*a${at - 1}`;
      return `a${at}: &a${at} [${Array(9).fill(lower).join(", ")}]`;
    });
    const text = `${levels.join("\n")}\n`;
    const chunks = cut(text, 200);
    expect(chunks.map((chunk) => chunk.text).join("").length).toBeLessThanOrEqual(text.length);
    expect(chunks.at(-1)?.text).toContain("*a28");
  });

  test.each([
    ["no YAML", "- a list of words\n\nand: a map behind it\n\nmore: words"],
    ["nested too deep", `${"[".repeat(200)}\n\n${"]".repeat(200)}`],
    ["without a value", "# only\n\n# comments\n"],
  ])("is cut as plain text where it is %s", (_, text) => {
    expect(placesOf(text, 20).every(([pointer]) => pointer === null)).toBe(true);
  });

  test("of any characters is cut without a loss", () => {
    const parts = "- :?[]{},|>'\"#%@\t\n\n"
      .split("")
      .concat("&a", "*a", "!t", "key", "---\n", "  ", "\0");
    let state = 11;
    const next = (below: number): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    for (let run = 0; run < 3_000; run += 1) {
      const text = Array.from({ length: 40 }, () => parts[next(parts.length)]).join("");
      const bare = (of: string) => of.replaceAll(/\s/g, "");
      expect(
        bare(
          cut(text, 20)
            .map((chunk) => chunk.text)
            .join(""),
        ),
      ).toBe(bare(text));
    }
  });

  test.each([
    ["entries", (size: number) => "- a\n".repeat(size)],
    ["open brackets", (size: number) => "[".repeat(size)],
    ["nested lists", (size: number) => "- ".repeat(size)],
    ["anchors", (size: number) => "&a ".repeat(size)],
    ["documents", (size: number) => "---\na\n".repeat(size)],
    ["comments", (size: number) => `a:\n${"# b\n".repeat(size)}`],
    ["quotes", (size: number) => `"${"\\n".repeat(size)}`],
    ["keys on one line", (size: number) => "a: ".repeat(size)],
  ])("takes time in proportion to its %s", async (_, textOf) => {
    await expectLinear(20_000, (size) => {
      const text = textOf(size);
      const by = { format: YAML, firstLine: 0, places: NO_PLACES };
      return () => void chunkText(text, by, { maxChars: 300, overlap: 0 });
    });
  });
});
