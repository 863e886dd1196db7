/** Those who wait for their turn are as many as may. */
export class BusyError extends Error {}

/**
 * Gives a turn to others while a body waits for something that turns are not about, and takes one again after it, whoever
 * else waits.
 */
export type StepAside = <T>(body: () => Promise<T>) => Promise<T>;

/** Runs bodies, so many at once and no more; others wait for their turn, and those beyond are told to come back. */
export type Turns = <T>(body: (stepAside: StepAside) => Promise<T>) => Promise<T>;

/** @param what is busy, as the refusal names it */
export function takeTurns(atOnce: number, mostWaiting: number, what: string): Turns {
  let running = 0;
  const waiting: (() => void)[] = [];
  const take = async (): Promise<void> => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
  };
  const giveBack = (): void => {
    const next = waiting.shift();
    // The next one takes over this turn, so that nobody slips in between.
    if (next === undefined) running -= 1;
    else next();
  };
  const stepAside: StepAside = async (body) => {
    giveBack();
    try {
      return await body();
    } finally {
      await take();
    }
  };
  return async (body) => {
    if (running >= atOnce && waiting.length >= mostWaiting) {
      throw new BusyError(
        `${what} is busy: ${waiting.length} requests wait already. Ask again in a moment.`,
      );
    }
    await take();
    try {
      return await body(stepAside);
    } finally {
      giveBack();
    }
  };
}
