import { describe, expect, test } from "@jest/globals";
import {
  decideExam,
  examSentence,
  wrongOfSupported,
  yesLimit,
} from "../../../../src/worker/verify/judge/exam-sequence.ts";
import type { ExamCounts } from "../../../../src/worker/verify/judge/exam-sequence.ts";

/** So many wrong ones confirmed of so many, and of the right ones nine in ten unless others are given. */
const counts = (confirmed: number, asked: number, right = Math.round(0.9 * asked)): ExamCounts => ({
  wrong: { asked, confirmed },
  right: { asked, confirmed: right },
});

describe("the score from which on it is a yes", () => {
  const scores = (low: number, high: number, score = 0.9): readonly number[] =>
    Array.from({ length: low + high }, (_, at) => (at < low ? 0.1 : score));
  test.each([
    ["the lowest, where no wrong statement has one", scores(200, 0), 0.5],
    ["the lowest, where the upper bound holds at each", scores(189, 11), 0.5],
    ["the one above that at which it does not", scores(180, 20), 0.95],
    ["the strictest, where none holds", scores(0, 200, 1), 0.99],
    ["the strictest, where there is nothing to go by", [], 0.99],
  ])("is %s", (_, wrong, limit) => {
    expect(yesLimit(wrong)).toBe(limit);
  });
});

describe("an exam", () => {
  test.each([
    // Of what is confirmed the upper bound has to be 10 % at most.
    [0, 55, "open"],
    [0, 60, "passed"],
    [1, 60, "passed"],
    [2, 60, "open"],
    [2, 75, "passed"],
    [3, 80, "open"],
    [3, 90, "passed"],
    [5, 110, "open"],
    [12, 195, "open"],
    // A model that nods is seen in three calls; the lower bound has to be 10 % at least.
    [10, 10, "open"],
    [15, 15, "failed"],
    [3, 15, "open"],
    [5, 15, "failed"],
    [4, 15, "failed"],
    [7, 35, "failed"],
    [6, 35, "open"],
  ] as const)("with %d of %d wrong statements confirmed is %s", (confirmed, asked, verdict) => {
    expect(decideExam(counts(confirmed, asked), false)).toBe(verdict);
  });

  test.each([
    [10, 200, "passed"],
    [11, 200, "passed"],
    [12, 200, "weak"],
    [28, 200, "weak"],
    [29, 200, "failed"],
  ] as const)("that is over at %d of %d is %s", (confirmed, asked, verdict) => {
    expect(decideExam(counts(confirmed, asked), true)).toBe(verdict);
  });

  test("that is still open at its end has not passed", () => {
    expect(decideExam(counts(2, 60), false)).toBe("open");
    expect(decideExam(counts(2, 60), true)).toBe("weak");
    expect(decideExam(counts(0, 0), true)).toBe("failed");
  });
});

describe("a judge that confirms too few of the right ones", () => {
  test.each([
    [0, 25, "open"],
    [0, 30, "useless"],
    [12, 30, "useless"],
    [13, 30, "open"],
    [15, 30, "open"],
  ] as const)(
    "is useless before the end where the upper bound is below 60 %% (%d of %d)",
    (right, asked, verdict) => {
      expect(decideExam(counts(0, asked, right), false)).toBe(verdict);
    },
  );

  test("is useless at a pass, or at a weak end, by the share itself", () => {
    expect(decideExam(counts(0, 60, 35), false)).toBe("useless");
    expect(decideExam(counts(0, 60, 36), false)).toBe("passed");
    expect(decideExam(counts(20, 200, 119), true)).toBe("useless");
    expect(decideExam(counts(20, 200, 120), true)).toBe("weak");
  });

  test("and too many of the wrong ones has failed", () => {
    expect(decideExam(counts(15, 15, 0), false)).toBe("failed");
  });
});

describe("what a person reads", () => {
  test("is the counts, and what they come to with an interval", () => {
    expect(examSentence("qwen3:8b", counts(3, 90, 81))).toBe(
      "qwen3:8b confirmed 3 of 90 wrong statements and 81 of 90 right ones: " +
        "of 100 supported statements about 0.4 (0.1 to 0.9) are wrong, if 10 of 100 were",
    );
  });

  test.each([
    [2, 60, 54, 0.4],
    [5, 100, 90, 0.5],
    [10, 200, 180, 0.5],
    [18, 200, 180, 0.8],
    [40, 200, 170, 1.8],
  ])("of %d of %d, and %d right ones, %d of 100", (confirmed, asked, right, about) => {
    const share = wrongOfSupported(counts(confirmed, asked, right));
    expect(Number(share.about.toFixed(1))).toBe(about);
    expect(share.low).toBeLessThan(share.about);
    expect(share.high).toBeGreaterThan(share.about);
  });

  test("is not nothing after nothing was confirmed wrongly", () => {
    const { low, about, high } = wrongOfSupported(counts(0, 60));
    expect(low).toBe(0);
    expect(about).toBeGreaterThan(0.1);
    expect(high).toBeLessThan(1);
  });

  test("leaves all open where nothing was asked", () => {
    expect(wrongOfSupported(counts(0, 0))).toMatchObject({ low: 0, high: 100 });
  });
});
