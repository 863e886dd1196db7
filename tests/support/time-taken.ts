/**
 * How long the body takes in milliseconds, at least: the shortest of at most three runs, each by the clock or by the
 * processor time of this process, whichever is less. Others on the machine stretch the clock, and collectors of garbage on
 * threads of their own stretch the processor time. The first run below `enoughMs` is the last.
 */
export function timeTaken(body: () => unknown, enoughMs = 0): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3 && least >= enoughMs; run += 1) {
    const stop = startWatch();
    body();
    least = Math.min(least, stop());
  }
  return least;
}

/** The same for a body that has ended when its promise is settled. */
export async function timeTakenBy(body: () => Promise<unknown>, enoughMs = 0): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3 && least >= enoughMs; run += 1) {
    const stop = startWatch();
    await body();
    least = Math.min(least, stop());
  }
  return least;
}

function startWatch(): () => number {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return Math.min((user + system) / 1_000, performance.now() - startedAt);
  };
}
