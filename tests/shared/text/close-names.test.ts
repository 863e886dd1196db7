import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { editDistance, findCloseNames } from "../../../src/shared/text/close-names.ts";

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

/** The textbook recursion, slow and plain. */
function plainDistance(a: string, b: string): number {
  if (a === "" || b === "") return a.length + b.length;
  const [restA, restB] = [a.slice(1), b.slice(1)];
  if (a[0] === b[0]) return plainDistance(restA, restB);
  const isSwapped = a.length > 1 && a[0] === b[1] && a[1] === b[0];
  const ways = [plainDistance(restA, b), plainDistance(a, restB), plainDistance(restA, restB)];
  return 1 + Math.min(...ways, ...(isSwapped ? [plainDistance(a.slice(2), b.slice(2))] : []));
}

test("the distance agrees with the plain definition up to its limit", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 6 });
  fc.assert(
    fc.property(word, word, fc.integer({ min: 0, max: 4 }), (a, b, limit) => {
      expect(editDistance(a, b, limit)).toBe(Math.min(plainDistance(a, b), limit + 1));
    }),
    { numRuns: 2_000 },
  );
});

test("close names are those that begin so or were typed wrong, the closest first, and no more than three", () => {
  const names = ["tonight", "tonihgt", "tomorrow", "tonight-2", "tonight-3", "x"];
  expect(findCloseNames("TONIGHT", names)).toEqual(["tonight", "tonight-2", "tonight-3"]);
  expect(findCloseNames("tonigth", names)).toEqual(["tonight", "tonihgt"]);
  expect(findCloseNames("ab", ["a", "abc", "ac"])).toEqual(["ac"]);
});
