import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../shared/db/database.ts";
import { hasWork } from "../../shared/db/jobs/read-work.ts";
import type { RunsInHand } from "./runs-in-hand.ts";

const LOOK_MS = 200;
/** Looks in a row that find nothing, so that a command that is about to queue more keeps its worker. */
const QUIET_LOOKS = 3;

/** Resolves when nothing is left that a worker could do now, or when the signal aborts. */
export async function waitUntilIdle(
  database: Database,
  runs: RunsInHand,
  signal: AbortSignal,
): Promise<void> {
  let quiet = 0;
  while (quiet < QUIET_LOOKS && !signal.aborted) {
    const busy = runs.ids().length > 0 || (await hasWork(database));
    quiet = busy ? 0 : quiet + 1;
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}
