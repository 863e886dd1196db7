import { expect, test } from "@jest/globals";
import { isSampled } from "../../../src/worker/jobs/verification/verify.ts";

const JOBS = Array.from(
  { length: 10_000 },
  (_, at) => `00000000-0000-4000-8000-${`${at}`.padStart(12, "0")}`,
);
const countOf = (percent: number): number =>
  JOBS.filter((jobId) => isSampled(jobId, percent)).length;

test.each([1, 10, 35, 80])("%d in a hundred jobs are sampled", (percent) => {
  const expected = percent * 100;
  // Four standard deviations of a binomial distribution.
  const off = 4 * Math.sqrt((expected * (100 - percent)) / 100);
  expect(Math.abs(countOf(percent) - expected)).toBeLessThan(off);
});

test("none of 0 and all of 100 are sampled, and more of a higher share", () => {
  expect(countOf(0)).toBe(0);
  expect(countOf(100)).toBe(JOBS.length);
  const few = JOBS.filter((jobId) => isSampled(jobId, 10));
  expect(few.every((jobId) => isSampled(jobId, 20))).toBe(true);
});
