import { expect } from "@jest/globals";

/** The longest that the product holds an event loop, in milliseconds. */
export const LONGEST_TURN_MS = 200;

const MOST_ROUNDS = 9;

/**
 * How long the body takes in milliseconds, at least: the shortest of at most nine runs, each by the clock or by the
 * processor time of this process, whichever is less. Others on the machine stretch the clock, and collectors of garbage on
 * threads of their own stretch the processor time; a machine that stands still for half a second stretches several runs in
 * a row. The first run below `enoughMs` is the last, so a body that is fast enough runs once.
 */
export function timeTaken(body: () => unknown, enoughMs = 0): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runsFor(enoughMs) && least >= enoughMs; run += 1) {
    const stop = startWatch();
    body();
    least = Math.min(least, stop());
  }
  return least;
}

/** The same for a body that has ended when its promise is settled. */
export async function timeTakenBy(body: () => Promise<unknown>, enoughMs = 0): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runsFor(enoughMs) && least >= enoughMs; run += 1) {
    const stop = startWatch();
    await body();
    least = Math.min(least, stop());
  }
  return least;
}

/** Who says no time that is enough wants a figure, for which three runs do. */
const runsFor = (enoughMs: number): number => (enoughMs > 0 ? MOST_ROUNDS : 3);

/** Makes what is to be measured for a size: what it prepares is not measured. */
type BodyOf = (size: number) => () => unknown;

/**
 * Expects time that grows with the size as a line does: four times for 4n, of which a square takes sixteen times.
 * Sizes are compared with each other, so the machine's speed does not matter.
 */
export const expectLinear = (n: number, bodyOf: BodyOf): Promise<void> =>
  expectGrowth(8, n, bodyOf);

/** Expects time that does not grow with the size. */
export const expectConstant = (n: number, bodyOf: BodyOf): Promise<void> =>
  expectGrowth(2, n, bodyOf);

const ENOUGH_TO_TELL_MS = 2;
/** What one call takes longer than is no matter of compiling. */
const LONG_CALL_MS = 100;

/**
 * The first round that shows less is the last, since noise only makes a time longer. The small size is measured again
 * behind the large one, which has compiled what both run.
 */
async function expectGrowth(below: number, n: number, bodyOf: BodyOf): Promise<void> {
  const [small, large] = [bodyOf(n), bodyOf(4 * n)];
  const times = await timesToRun(small);
  let [ofSmall, ofLarge] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    ofLarge = Math.min(ofLarge, await timeToRepeat(large, times));
    ofSmall = Math.min(ofSmall, await timeToRepeat(small, times));
    if (ofLarge / ofSmall < below) return;
  }
  expect({ n, times, ofSmall, ofLarge, growth: ofLarge / ofSmall }).toEqual({
    growth: `less than ${below}`,
  });
}

/**
 * So often that a clock can tell how long it takes, which warms it up, too. The least of two counts: the first call of a
 * body is compiled and may be interrupted, and one call of 0.1 ms a size measures the machine.
 */
async function timesToRun(body: () => unknown): Promise<number> {
  for (let times = 1; ; times *= 2) {
    let least = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 2; run += 1) {
      least = Math.min(least, await timeToRepeat(body, times));
      if (least > LONG_CALL_MS) return times;
    }
    if (least > ENOUGH_TO_TELL_MS || times > 10_000) return times;
  }
}

async function timeToRepeat(body: () => unknown, times: number): Promise<number> {
  const stop = startWatch();
  await repeat(body, times);
  return stop();
}

async function repeat(body: () => unknown, times: number): Promise<void> {
  for (let run = 0; run < times; run += 1) {
    const result = body();
    if (result instanceof Promise) await result;
  }
}

function startWatch(): () => number {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return Math.min((user + system) / 1_000, performance.now() - startedAt);
  };
}
