import { constants } from "node:os";
import type { Terminal } from "./terminal.ts";

/**
 * Runs the body. SIGINT or SIGTERM ends the command at once with 130 or 143, after a line on how to continue.
 * @param onInterrupt returns that line: what continues without the command, and how to see it
 */
export async function runInterruptible<T>(
  terminal: Terminal,
  onInterrupt: () => string,
  body: (atInterrupt: (cleanUp: () => void) => void) => Promise<T>,
): Promise<T> {
  const cleanUps: (() => void)[] = [];
  const end = (signal: "SIGINT" | "SIGTERM") => {
    terminal.say(onInterrupt());
    for (const cleanUp of cleanUps) cleanUp();
    process.exit(128 + constants.signals[signal]);
  };
  process.once("SIGINT", end).once("SIGTERM", end);
  try {
    return await body((cleanUp) => cleanUps.push(cleanUp));
  } finally {
    process.off("SIGINT", end).off("SIGTERM", end);
  }
}
