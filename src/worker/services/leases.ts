import type { Queryable } from "../../shared/store/connection/database.ts";
import { CANCEL_CHANNEL } from "../../shared/store/jobs/batches.ts";
import { renewLeases } from "../../shared/store/jobs/claim-job.ts";
import { heartbeat } from "../../shared/store/jobs/workers.ts";
import type { WorkerFacts } from "../../shared/store/jobs/workers.ts";
import type { InFlightRuns } from "../delivery/in-flight.ts";
import type { Service } from "./supervisor.ts";

const RENEW_MS = 5_000;
/** Where a transaction held the job of a run: it ends soon, and what it held is then nobody's but for the lease. */
const BUSY_MS = 500;

type LeaseParts = {
  /** With connections that nobody else takes. */
  readonly database: Queryable;
  readonly worker: WorkerFacts;
  readonly runs: InFlightRuns;
};

/**
 * Says every 5 s that the worker is alive, renews the leases of its runs that move, and aborts those that rest, that it
 * lost, or whose batch was cancelled or expired. Woken by a cancellation, it looks at once.
 */
export function leaseService({ database, worker, runs }: LeaseParts): Service {
  return {
    name: "leases",
    trouble: "leases could not be renewed",
    channels: [CANCEL_CHANNEL],
    async run() {
      // Neither waits for the other: a lease is short.
      const [, busy] = await Promise.all([heartbeat(database, worker), renew(database, runs)]);
      return busy > 0 ? BUSY_MS : RENEW_MS;
    },
  };
}

/** @returns how many could not be renewed now */
async function renew(db: Queryable, runs: InFlightRuns): Promise<number> {
  const resting = runs.abortResting();
  const held = runs.ids().filter((runId) => !resting.includes(runId));
  if (held.length === 0) return 0;
  const { stops, busy } = await renewLeases(db, held);
  for (const runId of held) {
    const stop = stops.get(runId);
    if (stop === undefined) runs.abort(runId, "lease_lost");
    else if (stop !== null) runs.abort(runId, stop);
  }
  return busy;
}
