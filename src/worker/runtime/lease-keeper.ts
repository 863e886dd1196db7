import type { Database, Queryable } from "../../shared/store/connection/database.ts";
import { renewLeases } from "../../shared/store/jobs/claim-job.ts";
import { heartbeat } from "../../shared/store/jobs/workers.ts";
import type { WorkerFacts } from "../../shared/store/jobs/workers.ts";
import type { FaultLog } from "./fault-log.ts";
import { repeat } from "./repeat.ts";
import type { Repeating } from "./repeat.ts";
import type { RunsInHand } from "./runs-in-hand.ts";

const RENEW_MS = 5_000;
const AFTER_ERROR_MS = 500;
const UNRENEWED = "leases could not be renewed";

export type LeaseParts = {
  readonly database: Database;
  readonly worker: WorkerFacts;
  readonly runs: RunsInHand;
  readonly faults: FaultLog;
};

/**
 * Says every 5 s that the worker is alive, renews the leases of its runs that move, and aborts those that rest, that it
 * lost, or whose batch was cancelled or expired. Woken by a cancellation, it looks at once.
 */
export function keepLeases({ database, worker, runs, faults }: LeaseParts): Repeating {
  return repeat(
    async () => {
      const db = database.within("lease");
      // Neither waits for the other: a lease is short.
      await Promise.all([heartbeat(db, worker), renew(db, runs)]);
      faults.works(UNRENEWED);
      return RENEW_MS;
    },
    (err) => {
      faults.broke(UNRENEWED, err);
      return AFTER_ERROR_MS;
    },
  );
}

async function renew(db: Queryable, runs: RunsInHand): Promise<void> {
  const resting = runs.abortResting();
  const held = runs.ids().filter((runId) => !resting.includes(runId));
  if (held.length === 0) return;
  const renewed = await renewLeases(db, held);
  for (const runId of held) {
    const stop = renewed.get(runId);
    if (stop === undefined) runs.abort(runId, "lease_lost");
    else if (stop !== null) runs.abort(runId, stop);
  }
}
