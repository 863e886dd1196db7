import { readFileSync, statSync } from "node:fs";

const POLL_MS = 5_000;

/**
 * Watches what tests/services/running-files.js writes: where no file of tests begins or ends for too long, one of those that run
 * never will, and a test in an endless loop can't be ended by its own limit.
 * @param {string} path
 * @param {number} longestMs
 * @returns {{ signal: AbortSignal, stop: () => void }} the signal is given, and the files named on stderr, when it is too long
 */
export function watchTests(path, longestMs) {
  const controller = new AbortController();
  const timer = setInterval(() => {
    const lastAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (lastAt === undefined || Date.now() - lastAt < longestMs) return;
    clearInterval(timer);
    const files = JSON.parse(readFileSync(path, "utf8")).join(", ");
    const minutes = Math.round(longestMs / 60_000);
    process.stderr.write(
      `No file of tests has ended for ${minutes} minutes. These run: ${files}\n`,
    );
    controller.abort();
  }, POLL_MS);
  return { signal: controller.signal, stop: () => clearInterval(timer) };
}
