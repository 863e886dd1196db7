import { expect, test } from "@jest/globals";
import { cacheNames } from "../../../src/worker/sandbox/suggest-names.ts";
import type { NameListing } from "../../../src/worker/sandbox/suggest-names.ts";

const empty: NameListing = { places: new Map(), composed: new Map(), paths: [], cutAt: null };

/** A clock that the test sets, and a listing that takes `costMs` of it. */
function makeKept(
  costMs: number,
): { at: (ms: number) => void; made: () => number } & ReturnType<typeof cacheNames> {
  let now = 0;
  let made = 0;
  const list = async (): Promise<NameListing> => {
    made += 1;
    await Promise.resolve();
    now += costMs;
    return empty;
  };
  const kept = cacheNames(list, () => now);
  return { ...kept, at: (ms) => void (now = ms), made: () => made };
}

test("keeps a listing for five seconds", async () => {
  const kept = makeKept(100);
  await kept.current();
  kept.at(5_099);
  await kept.current();
  expect(kept.made()).toBe(1);
  kept.at(5_100);
  await kept.current();
  expect(kept.made()).toBe(2);
});

test("makes it anew for a miss when it is older than ten times its cost", async () => {
  const kept = makeKept(100);
  await kept.current();
  kept.at(1_099);
  await kept.renewed();
  expect(kept.made()).toBe(1);
  kept.at(1_100);
  await kept.renewed();
  expect(kept.made()).toBe(2);
});

test("shares one walk between askers at the same time", async () => {
  const kept = makeKept(100);
  await Promise.all([kept.current(), kept.current(), kept.renewed()]);
  expect(kept.made()).toBe(1);
});

test("whoever counts gets a walk that began after it asked, also while another one goes on", async () => {
  const kept = makeKept(100);
  const current = kept.current();
  const both = [kept.begunNow(), kept.begunNow()];
  await current;
  expect(kept.made()).toBe(1);
  await Promise.all(both);
  expect(kept.made()).toBe(2);
  await kept.begunNow();
  expect(kept.made()).toBe(3);
});

test("does not keep a failure", async () => {
  let failing = true;
  const list = async (): Promise<NameListing> => {
    if (failing) throw new Error("the disk is gone");
    return empty;
  };
  const kept = cacheNames(list, () => 0);
  await expect(kept.current()).rejects.toThrow("the disk is gone");
  await expect(kept.begunNow()).rejects.toThrow("the disk is gone");
  failing = false;
  expect(await kept.current()).toBe(empty);
  expect(await kept.begunNow()).toBe(empty);
});
