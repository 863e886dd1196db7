import { setTimeout as sleep } from "node:timers/promises";
import { isDatabaseGone } from "../../shared/db/database.ts";

const FIRST_MS = 10;
const MOST_MS = 250;
const GROWTH = 1.25;
/** The embedded database may be killed and started again under a command that waits. */
const AWAY_MS = 60_000;

/**
 * Looks until there is something: first after 10 ms, then less and less often, up to every 250 ms. A database
 * that is away for less than a minute is waited for.
 * @param look gives undefined while there is nothing yet
 */
export async function pollUntil<T>(look: () => Promise<T | undefined>): Promise<T> {
  let pause = FIRST_MS;
  let awaySince: number | undefined;
  for (;;) {
    try {
      const found = await look();
      if (found !== undefined) return found;
      awaySince = undefined;
    } catch (error) {
      awaySince ??= performance.now();
      if (!isDatabaseGone(error) || performance.now() - awaySince > AWAY_MS) throw error;
    }
    await sleep(pause);
    pause = Math.min(MOST_MS, pause * GROWTH);
  }
}
