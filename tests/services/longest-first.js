import TestSequencer from "@jest/test-sequencer";

// Jest begins with the largest files where it has no times of an earlier run, as in a clean checkout. These are small files
// that take minutes: begun last, they run while the other cores have nothing left.
const LONG = [
  /\/scenarios\/(killed-night|night)\//,
  /\/scenarios\/(process-lifecycle|processes|demo|keep-worker)\.test/,
  /\/docs\/commands\.test/,
  /\/architecture\/extend\.test/,
  /\/examples\/formats\.test/,
];

/** A sequencer of jest that begins with the files that take longest. */
export default class LongestFirst extends TestSequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    const isLong = ({ path }) => LONG.some((pattern) => pattern.test(path));
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
}
