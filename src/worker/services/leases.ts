import type { Queryable } from "../../shared/store/connection/database.ts";
import { CANCEL_CHANNEL } from "../../shared/store/jobs/batches.ts";
import { renewLeases } from "../../shared/store/jobs/claim-job.ts";
import { heartbeat } from "../../shared/store/jobs/workers.ts";
import type { WorkerFacts } from "../../shared/store/jobs/workers.ts";
import type { InFlightRuns } from "../delivery/in-flight.ts";
import type { Service } from "./supervisor.ts";

const RENEW_MS = 5_000;
/** After a transaction blocked the job of a run: it ends soon, and then only the lease protects the job. */
const BUSY_MS = 500;

type LeaseParts = {
  /** Uses connections that are reserved for leases. */
  readonly database: Queryable;
  readonly worker: WorkerFacts;
  readonly runs: InFlightRuns;
};

/**
 * Every 5 s reports that the worker is alive, renews the leases of its runs that make progress, and aborts runs that do not,
 * that it lost, or whose batch was cancelled or expired. A cancellation wakes it at once.
 */
export function leaseService({ database, worker, runs }: LeaseParts): Service {
  return {
    name: "leases",
    trouble: "leases could not be renewed",
    channels: [CANCEL_CHANNEL],
    async run() {
      // In parallel, because a lease is short.
      const [, busy] = await Promise.all([heartbeat(database, worker), renewHeld(database, runs)]);
      return busy > 0 ? BUSY_MS : RENEW_MS;
    },
  };
}

/** @returns how many leases could not be renewed at the moment */
async function renewHeld(db: Queryable, runs: InFlightRuns): Promise<number> {
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
