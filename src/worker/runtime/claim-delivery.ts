import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../shared/store/connection/database.ts";
import { claimJob, isLeftToOthers } from "../../shared/store/jobs/claim-job.ts";
import type { ClaimedJob } from "../../shared/store/jobs/claim-job.ts";
import { requeueMissing } from "../../shared/store/jobs/dispatch.ts";
import type { Delivery } from "./process-delivery.ts";

/** Meanwhile others take deliveries, and this place none. */
const REST_MS = 1_000;

/**
 * Claims the job of a delivery. One that this worker can't do, because its host is down, is given back for a worker of
 * another host, and its place here takes a rest.
 */
export async function claimDelivery(
  database: Database,
  delivery: Delivery,
  workerId: string,
  runId: string,
): Promise<ClaimedJob | undefined> {
  const job = await claimJob(database, delivery, workerId, runId);
  if (job === undefined && (await isLeftToOthers(database, delivery, workerId))) {
    await requeueMissing(database, [delivery]);
    await sleep(REST_MS);
  }
  return job;
}
