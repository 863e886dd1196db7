import { expect, test } from "@jest/globals";
import { Refused } from "../../src/serve/failures.ts";
import { limitRequests } from "../../src/serve/limit-requests.ts";

test("a token may ask so often a minute, whatever others do, and is told how long to wait", () => {
  let now = 0;
  const letThrough = limitRequests(2, () => now);
  const ask = (token: string, at: number): number | undefined => {
    now = at;
    try {
      letThrough(token);
      return 0;
    } catch (error) {
      return error instanceof Refused ? error.failure.retryAfter : undefined;
    }
  };
  expect([ask("a", 0), ask("a", 100), ask("a", 200)]).toEqual([0, 0, 60]);
  expect(ask("b", 300)).toBe(0);
  expect([ask("a", 59_100), ask("a", 59_999)]).toEqual([1, 1]);
  expect([ask("a", 60_000), ask("a", 60_001), ask("a", 60_002)]).toEqual([0, 0, 60]);
});
