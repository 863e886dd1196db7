import { readFileSync } from "node:fs";
import { openOffload, openSchemaThread } from "../../../src/worker/offload/offload.ts";
import type { Offload, ThreadOptions } from "../../../src/worker/offload/offload.ts";

/** One of a test's own. */
export const testOffload = (limits: Omit<ThreadOptions, "execArgv"> = {}): Offload =>
  openOffload({ ...limits, execArgv: process.execArgv });

export const testSchemaThread = (): Offload => openSchemaThread(process.execArgv);

/** What runs of the event loop happen until a promise is settled. */
export async function turnsUntil(settled: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const over = settled.then(
    () => (isOver = true),
    () => (isOver = true),
  );
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await over;
  return turns;
}

/**
 * The longest that the event loop was held until a promise is settled, in milliseconds: by the clock, without the time in which
 * its thread could have run and others had the processor (Linux says so in schedstat; elsewhere it counts as well).
 */
export async function longestTurn(settled: Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  const now = (): number => performance.now() - millisecondsQueued();
  let turnedAt = now();
  const over = settled.then(
    () => (isOver = true),
    () => (isOver = true),
  );
  const turn = () => {
    longest = Math.max(longest, now() - turnedAt);
    turnedAt = now();
    if (!isOver) setTimeout(turn, 1);
  };
  setTimeout(turn, 1);
  await over;
  return longest;
}

/** How long this thread has stood in the processor's queue since it began; 0 where the system does not say. */
function millisecondsQueued(): number {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}
