import { expect, test } from "@jest/globals";
import { cellTexts, tableCells } from "../../../src/worker/text/table-cells.ts";

test.each([
  ["| a | b |", [" a ", " b "]],
  ["a | b", ["a ", " b"]],
  ["|a||c|", ["a", "", "c"]],
  [String.raw`| a \| b | c \|`, [String.raw` a \| b `, String.raw` c \|`]],
  ["|", [""]],
  ["", [""]],
])("the row %j has its cells as they are written", (row, cells) => {
  expect(tableCells(row)).toEqual(cells);
});

test("a reader sees cells without their backslashes and blanks", () => {
  expect(cellTexts(String.raw`|  a \| b |c|`)).toEqual(["a | b", "c"]);
});

test("a long row takes linear time", () => {
  const started = performance.now();
  expect(tableCells("|".repeat(500_000))).toHaveLength(499_999);
  expect(tableCells("\\|".repeat(500_000))).toHaveLength(1);
  expect(performance.now() - started).toBeLessThan(5_000);
});
