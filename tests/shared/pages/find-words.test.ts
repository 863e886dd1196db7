import { expect, test } from "@jest/globals";
import { findWords } from "../../../src/shared/pages/find-words.ts";
import type { PlacedText } from "../../../src/shared/pages/find-words.ts";

/** Letters 10 wide and 10 high, lines 20 apart, with a blank at their ends; four blanks part cells. */
const lettersOf = (...lines: readonly string[]): readonly PlacedText[] =>
  lines.flatMap((line, row) =>
    Array.from(`${line} `, (text, column) => ({
      text,
      box: [column * 10, row * 20, column * 10 + 10, row * 20 + 10] as const,
      isSideways: false,
    })),
  );

/** Row and columns of each mark. */
const find = (page: readonly PlacedText[], words: string, before = "", after = ""): object => {
  const { boxes, ...found } = findWords(page, { words, before, after });
  const cells = boxes.map(([left, top, right]) =>
    [top, left, right].map((at) => Math.round(at / 10) + 0),
  );
  return { ...found, marks: cells.map(([row = 0, from, to]) => [row / 2, from, to]) };
};

test.each([
  [
    "blanks and line ends",
    ["The fee is", "40 euros."],
    "The fee  is 40\neuros.",
    [
      [0, 0, 10],
      [1, 0, 8],
    ],
  ],
  [
    "hyphens at line ends and ligatures",
    ["the oﬃ-", "cer pays"],
    "the officer pays",
    [
      [0, 0, 6],
      [1, 0, 8],
    ],
  ],
  ["accents that stand apart", ["Cafe\u0301 one"], "Café one", [[0, 0, 9]]],
  [
    "cells of a table",
    ["Fee    40"],
    "Fee | 40",
    [
      [0, 0, 3],
      [0, 7, 9],
    ],
  ],
])("finds words whatever their %s", (_, page, words, marks) => {
  expect(find(lettersOf(...page), words)).toEqual({ share: 1, times: 1, marks });
});

test("marks no figure within another", () => {
  const page = lettersOf("3125 and 1.2 and 12");
  expect(find(page, "12")).toMatchObject({ marks: [[0, 17, 19]] });
  expect(find(page, "1.2")).toMatchObject({ marks: [[0, 9, 12]] });
  expect(find(page, "31")).toEqual({ share: 0, times: 0, marks: [] });
});

test("marks the place that stands between the same words, and all where nothing says which", () => {
  const page = lettersOf("May: 40 euros", "June: 40 euros");
  expect(find(page, "40 euros", "in June: ")).toMatchObject({ times: 1, marks: [[1, 6, 14]] });
  expect(find(page, "40 euros")).toMatchObject({
    times: 2,
    marks: [
      [0, 5, 13],
      [1, 6, 14],
    ],
  });
});

test("finds words that the page holds in another order, and says what share of them", () => {
  const page = lettersOf("Harbour dues for", "Other text here", "yachts of ten metres");
  expect(find(page, "Harbour dues for yachts of ten metres")).toMatchObject({
    share: 1,
    marks: [
      [0, 0, 16],
      [2, 0, 20],
    ],
  });
  expect(find(page, "Harbour dues for boats")).toEqual({
    ...{ share: 14 / 19, times: 1 },
    marks: [[0, 0, 16]],
  });
  expect(find(page, "Nothing of the kind for anybody")).toEqual({ share: 0, times: 0, marks: [] });
});
