import { Refused } from "./failures.ts";

/** Runs bodies, so many at once and no more; others wait for their turn, and those beyond are told to come back. */
export type Turns = <T>(body: () => Promise<T>) => Promise<T>;

/** @param what is busy, as the refusal names it */
export function takeTurns(atOnce: number, mostWaiting: number, what: string): Turns {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (body) => {
    if (running >= atOnce) {
      if (waiting.length >= mostWaiting) {
        const message = `${what} is busy: ${waiting.length} requests wait already. Ask again in a moment.`;
        throw new Refused({ status: 503, code: "BUSY", message });
      }
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running += 1;
    try {
      return await body();
    } finally {
      const next = waiting.shift();
      // The next one takes over this turn, so that nobody slips in between.
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
