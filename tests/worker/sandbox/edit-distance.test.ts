import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { editDistance } from "../../../src/worker/sandbox/suggest-names.ts";

/** The textbook recursion, slow and plain. */
function plainDistance(a: string, b: string): number {
  if (a === "" || b === "") return a.length + b.length;
  const [restA, restB] = [a.slice(1), b.slice(1)];
  if (a[0] === b[0]) return plainDistance(restA, restB);
  return (
    1 + Math.min(plainDistance(restA, b), plainDistance(a, restB), plainDistance(restA, restB))
  );
}

test("agrees with the plain definition up to its limit", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 6 });
  fc.assert(
    fc.property(word, word, fc.integer({ min: 0, max: 4 }), (a, b, limit) => {
      expect(editDistance(a, b, limit)).toBe(Math.min(plainDistance(a, b), limit + 1));
    }),
    { numRuns: 2_000 },
  );
});
