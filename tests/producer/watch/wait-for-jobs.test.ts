import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { pollUntil } from "../../../src/producer/watch/wait-for-jobs.ts";

const GONE = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

let seconds: number;
beforeEach(() => {
  seconds = 0;
  jest.spyOn(performance, "now").mockImplementation(() => seconds * 1_000);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** Looks that end so, one after the other, each at its second. */
const poll = (...looks: [at: number, end: Error | string | undefined][]) =>
  pollUntil(async () => {
    const [at, end] = looks.shift() ?? [seconds, "looked too often"];
    seconds = at;
    if (end instanceof Error) throw end;
    return end;
  });

test("a database that is away is waited for, for a minute each time", async () => {
  const twice = poll([0, GONE], [59, GONE], [60, undefined], [61, GONE], [121, "done"]);
  expect(await twice).toBe("done");
  await expect(poll([0, undefined], [10, GONE], [71, GONE])).rejects.toBe(GONE);
});

test("what else goes wrong ends the wait at once", async () => {
  const error = new Error("the batch is gone");
  await expect(poll([0, undefined], [1, error])).rejects.toBe(error);
});
