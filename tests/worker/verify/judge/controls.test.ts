import { expect, test } from "@jest/globals";
import { CONTROL_LIMIT } from "../../../../src/worker/verify/judge/controls.ts";
import type { ControlKind } from "../../../../src/worker/verify/judge/controls.ts";
import { addControl, hasFailed } from "../../../support/control-sums.ts";

/** How many controls of these verdicts, over and over, until the judge failed; null where 1,000 are not enough. */
function seenAfter(verdicts: readonly boolean[], kind: ControlKind): number | null {
  let sum = 0;
  for (let at = 0; at < 1_000; at += 1) {
    sum = addControl(sum, verdicts[at % verdicts.length] ?? false, kind);
    if (hasFailed(sum)) return at + 1;
  }
  return null;
}

test("a judge that confirms all is seen with the fourth wrong control, and by right ones never", () => {
  expect(seenAfter([true], "wrong")).toBe(4);
  expect(seenAfter([true], "right")).toBeNull();
});

test("a judge that confirms nothing is seen with the fifth right control, and by wrong ones never", () => {
  expect(seenAfter([false], "right")).toBe(5);
  expect(seenAfter([false], "wrong")).toBeNull();
});

test("one that confirms every second wrong control is seen in about ten", () => {
  expect(seenAfter([true, false], "wrong")).toBe(9);
  expect(seenAfter([false, true], "wrong")).toBe(10);
});

test("one that errs as rarely as it may is not seen in a thousand", () => {
  const rarely = (isError: boolean, of: number): boolean[] => [
    isError,
    ...Array<boolean>(of - 1).fill(!isError),
  ];
  expect(seenAfter(rarely(true, 20), "wrong")).toBeNull();
  expect(seenAfter(rarely(true, 10), "wrong")).toBeNull();
  expect(seenAfter(rarely(false, 7), "right")).toBeNull();
});

test("what a judge got right before it went bad does not cover it", () => {
  let sum = 0;
  for (let at = 0; at < 500; at += 1) sum = addControl(sum, false);
  expect(sum).toBe(0);
  for (let at = 0; at < 4; at += 1) sum = addControl(sum, true);
  expect(hasFailed(sum)).toBe(true);
});

test("the limit is one false alarm in a thousand", () => {
  expect(CONTROL_LIMIT).toBeCloseTo(6.908, 3);
});

/** The same numbers in each run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test("a judge as it was comes to it after a thousand controls on average, or later", () => {
  const random = randomFrom(18);
  const runs = 200;
  let controls = 0;
  for (let run = 0; run < runs; run += 1) {
    for (let sum = 0; !hasFailed(sum); controls += 1) sum = addControl(sum, random() < 0.05);
  }
  expect(controls / runs).toBeGreaterThan(1_000);
});
