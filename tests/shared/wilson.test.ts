import { expect, test } from "@jest/globals";
import { wilson } from "../../src/shared/wilson.ts";

// At 90 %: what a part of an exam, and the least that one needs, was planned with.
test.each([
  [0, 20, 0, 0.119],
  [5, 20, 0.13, 0.434],
  [0, 30, 0, 0.083],
  [5, 100, 0.025, 0.099],
  [0, 0, 0, 1],
])("%d of %d is from %d to %d", (hits, of, low, high) => {
  const interval = wilson(hits, of, 1.645);
  expect(interval.low).toBeCloseTo(low, 2);
  expect(interval.high).toBeCloseTo(high, 2);
});

test("is of 95 % unless another is asked for", () => {
  expect(wilson(3, 60)).toEqual(wilson(3, 60, 1.959_964));
});
