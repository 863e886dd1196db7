import type { CommandContext } from "../../shared/command-context.ts";
import type { Database } from "../../shared/db/database.ts";
import { selectEmbedProgress } from "../../shared/db/index/embed-jobs.ts";
import type { WaitingJob } from "../../shared/db/jobs/read-waiting.ts";
import type { QueuedJob } from "../enqueue/queue-ad-hoc.ts";
import { createIndexMeter } from "./index-meter.ts";
import { isFinal, waitByPlan } from "./wait-for-jobs.ts";
import type { Waited } from "./wait-for-jobs.ts";

/**
 * Waits for an index or embed job and the jobs that it hands out, until all have ended or none can go on: a job that is
 * parked leaves the others to be waited for.
 */
export function waitForIndex(
  context: CommandContext,
  database: Database,
  queued: QueuedJob,
): Promise<Waited> {
  const meter = createIndexMeter();
  return waitByPlan(context, database, queued, {
    judge,
    describe: async (jobs) => meter.read(jobs, await selectEmbedProgress(database, queued.batchId)),
  });
}

function judge(jobs: readonly WaitingJob[]): Waited | undefined {
  const open = jobs.filter((job) => !isFinal(job));
  const [first] = open;
  if (first === undefined) return { kind: "ended", jobs };
  const canGoOn = open.some(
    ({ state, holdReason }) => state === "running" || (state === "queued" && holdReason === null),
  );
  return canGoOn ? undefined : { kind: "delayed", job: first };
}
