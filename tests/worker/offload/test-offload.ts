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

/** The longest that the event loop was held until a promise is settled, in milliseconds. */
export async function longestTurn(settled: Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  let turnedAt = performance.now();
  const over = settled.then(
    () => (isOver = true),
    () => (isOver = true),
  );
  const turn = () => {
    longest = Math.max(longest, performance.now() - turnedAt);
    turnedAt = performance.now();
    if (!isOver) setTimeout(turn, 1);
  };
  setTimeout(turn, 1);
  await over;
  return longest;
}
