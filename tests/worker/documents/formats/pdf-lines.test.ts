import { expect, test } from "@jest/globals";
import { linesOf } from "../../../../src/worker/documents/formats/pdf-lines.ts";

/** What is read of letters and marks that stand side by side, each as wide as given. */
function read(glyphs: readonly (readonly [text: string, width: number])[]): string {
  let x = 0;
  const placed = glyphs.map(([text, width]) => {
    const glyph = { text, x, end: x + width, y: 0, size: 10, opens: false };
    x += width;
    return glyph;
  });
  const [line] = linesOf(placed, []);
  return (line?.pieces ?? []).map(({ units }) => units.join("")).join("|");
}

test.each([
  ["क", "\u093e", "म"],
  ["म", "क", "\u093e"],
])("a spacing mark stands behind its own letter: %s%s%s", (...letters) => {
  expect(read(letters.map((letter) => [letter, 5]))).toBe(letters.join(""));
});

test("a vowel that is drawn left of its letter is read after it", () => {
  expect(
    read([
      ["म", 5],
      ["\u093f", 3],
      ["क", 5],
    ]),
  ).toBe("मक\u093f");
});

test("a mark above a spacing mark follows it", () => {
  expect(
    read([
      ["क", 5],
      ["\u093e", 3],
      ["\u0902", 0],
      ["म", 5],
    ]),
  ).toBe("क\u093e\u0902म");
});

test("a mark at the end of a line is not lost", () => {
  expect(
    read([
      ["क", 5],
      ["\u093f", 3],
    ]),
  ).toBe("क\u093f");
});

test.each([
  ["raised", 5.33],
  ["lowered", -5.33],
])("a %s figure of the size that programs call smaller is of its line", (_, apart) => {
  const glyphs = [
    ...[..."10"].map((text, at) => ({ text, x: at * 6, end: at * 6 + 6, y: 0, size: 12 })),
    { text: "3", x: 12, end: 18, y: apart, size: 10.67 },
    { text: "m", x: 22, end: 30, y: 0, size: 12 },
  ].map((glyph) => ({ ...glyph, opens: false }));
  const lines = linesOf(glyphs, []).map(({ pieces }) => pieces.flatMap(({ units }) => units));
  expect(lines.map((units) => units.join(""))).toEqual([expect.stringContaining("m")]);
});
