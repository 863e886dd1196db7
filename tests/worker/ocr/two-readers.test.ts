import { expect, test } from "@jest/globals";
import { isSameFigure, judgeFigures } from "../../../src/worker/ocr/two-readers.ts";

test.each([
  ["7²", "72"],
  ["71.73²", "71.732"],
  ["1½", "112"],
  ["2½", "2"],
])("%s is another figure than %s", (one, other) => {
  expect(isSameFigure(one, other)).toBe(false);
});

test("a figure that only the second reader takes for one is in doubt", () => {
  const at = { box: [100, 50, 190, 80], confidence: 95, base: 80, lineHeight: 30 } as const;
  const read = judgeFigures([{ ...at, text: "lO" }], [{ ...at, text: "10" }]);
  expect(read).toMatchObject([{ text: "lO", figure: "doubtful", other: "10" }]);
});

test("a raised digit that one reader takes for a digit leaves the figure in doubt", () => {
  const at = { box: [100, 50, 190, 80], confidence: 95, base: 80, lineHeight: 30 } as const;
  const read = judgeFigures([{ ...at, text: "72" }], [{ ...at, text: "7²" }]);
  expect(read).toMatchObject([{ text: "72", figure: "doubtful", other: "7²" }]);
});

test.each([
  ["７８", "78"],
  ["−78", "-78"],
  ["7²", "7²"],
])("%s is the same figure as %s", (one, other) => {
  expect(isSameFigure(one, other)).toBe(true);
});
