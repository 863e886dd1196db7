import { ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { keepRunning } from "../../../src/worker/commands/keep-running.ts";
import type { Ended } from "../../../src/worker/commands/keep-running.ts";

let kept: ReturnType<typeof keepRunning> | undefined;
afterEach(() => kept?.stop());

const started: ChildProcess[] = [];
const ended: Ended[] = [];
function keep(start: () => ChildProcess): void {
  started.length = 0;
  ended.length = 0;
  kept = keepRunning(
    () => {
      const child = start();
      started.push(child);
      return child;
    },
    (end) => ended.push(end),
  );
}

test("what is stopped ends, and no other is started", async () => {
  const words = ["--eval", "setInterval(() => {}, 1_000)"];
  keep(() => spawn(process.execPath, words, { stdio: "ignore" }));
  const [child] = started;
  if (child === undefined) throw new Error("nothing was started");
  kept?.stop();
  expect(await once(child, "exit")).toEqual([null, "SIGTERM"]);
  expect({ started: started.length, ended }).toEqual({ started: 1, ended: [] });
});

describe("in a time that is played", () => {
  beforeEach(() => {
    jest.useFakeTimers();
    keep(() => new ChildProcess());
  });
  afterEach(() => {
    jest.useRealTimers();
  });
  const endAfter = (milliseconds: number, ...how: readonly unknown[]): number | undefined => {
    jest.advanceTimersByTime(milliseconds);
    started.at(-1)?.emit("exit", ...how);
    return ended.at(-1)?.pauseMs;
  };

  test("what keeps ending is started again after pauses that double up to a minute", () => {
    let pauseMs = 0;
    const pauses = Array.from({ length: 8 }, () => (pauseMs = endAfter(pauseMs, 3) ?? 0));
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * 1_000));
    expect(started).toHaveLength(8);
  });

  test("what ran for a while is started again as at first", () => {
    expect([endAfter(0, null, "SIGKILL"), endAfter(1_000, 3), endAfter(2_000, 3)]).toEqual([
      1_000, 2_000, 4_000,
    ]);
    expect(ended.map(({ ending }) => ending)).toEqual(["SIGKILL", "exit 3", "exit 3"]);
    expect(endAfter(4_000 + 61_000, 3)).toBe(1_000);
  });

  test("what is stopped between two starts is not started again", () => {
    endAfter(0, 3);
    kept?.stop();
    jest.advanceTimersByTime(60_000);
    expect(started).toHaveLength(1);
  });
});
