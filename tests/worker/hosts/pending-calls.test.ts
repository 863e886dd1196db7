import { describe, expect, test } from "@jest/globals";
import { openPendingCalls } from "../../../src/worker/hosts/pending-calls.ts";

describe("calls that are about to begin", () => {
  test("count for their host until the database knows of them", () => {
    const pending = openPendingCalls(() => 0);
    pending.expect("a");
    pending.expect("a");
    pending.expect("b");
    expect([pending.watch()("a"), pending.watch()("b"), pending.watch()("c")]).toEqual([2, 1, 0]);
    pending.begin("a");
    pending.begin("c");
    expect([pending.watch()("a"), pending.watch()("b"), pending.watch()("c")]).toEqual([1, 1, 0]);
  });

  test("count for who began to watch before they began", () => {
    const pending = openPendingCalls(() => 0);
    const earlier = pending.watch();
    pending.expect("a");
    const count = pending.watch();
    pending.begin("a");
    pending.expect("a");
    expect([earlier("a"), count("a"), pending.watch()("a")]).toEqual([2, 2, 1]);
    expect(count("b")).toBe(0);
  });

  test("are taken back once, and not in another's stead", () => {
    const pending = openPendingCalls(() => 0);
    const takeBack = pending.expect("a");
    pending.expect("a");
    takeBack();
    takeBack();
    expect(pending.watch()("a")).toBe(1);
    const late = pending.expect("a");
    pending.begin("a");
    pending.begin("a");
    late();
    expect(pending.watch()("a")).toBe(0);
  });

  test("are forgotten when their run asks for no slot", () => {
    let now = 0;
    const pending = openPendingCalls(() => now);
    pending.expect("a");
    now = 20_000;
    pending.expect("a");
    now = 29_999;
    expect(pending.watch()("a")).toBe(2);
    now = 30_000;
    expect(pending.watch()("a")).toBe(1);
    now = 50_000;
    expect(pending.watch()("a")).toBe(0);
  });
});
