import { setTimeout as sleep } from "node:timers/promises";
import { isDatabaseGone } from "../../shared/store/connection/database.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { hasWork } from "../../shared/store/jobs/waiting.ts";
import type { RunsInHand } from "./runs-in-hand.ts";

const LOOK_MS = 200;
/** Looks in a row that find nothing, so that a command that is about to queue more keeps its worker. */
const QUIET_LOOKS = 3;

/** To one who waits for the end of the work, a database that is away for longer will not be back by itself. */
export const AWAY_MS = 60_000;

/**
 * Resolves when nothing is left that a worker could do now, or when the signal aborts. While the database is away
 * nobody knows: the worker waits for it as it would for a job.
 * @throws Failure DATABASE_UNREACHABLE when that takes more than a minute
 */
export async function waitUntilIdle(
  database: Database,
  runs: RunsInHand,
  signal: AbortSignal,
): Promise<void> {
  let quiet = 0;
  let seenAt = performance.now();
  while (quiet < QUIET_LOOKS && !signal.aborted) {
    const work = await lookForWork(database);
    if (typeof work === "boolean") seenAt = performance.now();
    else if (performance.now() - seenAt > AWAY_MS) throw work;
    quiet = runs.ids().length > 0 || work !== false ? 0 : quiet + 1;
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

const lookForWork = (database: Database): Promise<boolean | Error> =>
  hasWork(database).catch((error: unknown) => {
    if (error instanceof Error && isDatabaseGone(error)) return error;
    throw error;
  });
