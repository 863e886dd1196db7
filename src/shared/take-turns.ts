/** Thrown when the queue of waiting callers is full. */
export class BusyError extends Error {}

/** Releases the turn while a body waits for something else, and takes a turn again afterwards, even if the queue is full. */
export type StepAside = <T>(body: () => Promise<T>) => Promise<T>;

/** Limits how many bodies run at once. Others wait in a queue; beyond its limit they are refused. */
export type Turns = <T>(body: (stepAside: StepAside) => Promise<T>) => Promise<T>;

/** @param what is busy, for the message of BusyError */
export function takeTurns(atOnce: number, mostWaiting: number, what: string): Turns {
  let running = 0;
  const waiting: (() => void)[] = [];
  const take = async (): Promise<void> => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
  };
  const giveBack = (): void => {
    const next = waiting.shift();
    // The next caller takes over this turn directly, so that no other can get in between.
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
