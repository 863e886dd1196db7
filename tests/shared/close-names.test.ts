import { expect, test } from "@jest/globals";
import { editDistance, findCloseNames } from "../../src/shared/close-names.ts";

test.each([
  ["kitten", "sitting", 9, 3],
  ["ab", "ba", 9, 1],
  ["ca", "abc", 9, 3],
  ["", "abc", 9, 3],
  ["same", "same", 0, 0],
  ["kitten", "sitting", 2, 3],
  ["a", "a".repeat(1_000_000), 2, 3],
])("%s and %.10s are so far from each other, up to %d", (a, b, most, distance) => {
  expect(editDistance(a, b, most)).toBe(distance);
  expect(editDistance(b, a, most)).toBe(distance);
});

test("close names are those that begin so or were typed wrong, the closest first, and no more than three", () => {
  const names = ["tonight", "tonihgt", "tomorrow", "tonight-2", "tonight-3", "x"];
  expect(findCloseNames("TONIGHT", names)).toEqual(["tonight", "tonight-2", "tonight-3"]);
  expect(findCloseNames("tonigth", names)).toEqual(["tonight", "tonihgt"]);
  expect(findCloseNames("ab", ["a", "abc", "ac"])).toEqual(["ac"]);
});
