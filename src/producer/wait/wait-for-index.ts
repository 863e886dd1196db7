import type { CommandContext } from "../../shared/command-context.ts";
import type { Database } from "../../shared/db/database.ts";
import { selectEmbedProgress } from "../../shared/db/index/embed-jobs.ts";
import { selectWaitingJobs } from "../../shared/db/jobs/read-waiting.ts";
import type { WaitingJob } from "../../shared/db/jobs/read-waiting.ts";
import { FINAL_STATES } from "../../shared/job.ts";
import type { QueuedJob } from "../queue-ad-hoc.ts";
import { createIndexMeter } from "./index-meter.ts";
import { interruptible } from "./interrupt.ts";
import { keepWorker } from "./keep-worker.ts";
import { pollUntil } from "./poll.ts";
import type { Waited } from "./wait-for-jobs.ts";

/**
 * Waits for an index or embed job and the jobs that it hands out, until all have ended or none can go on: a job that is
 * parked leaves the others to be waited for.
 */
export async function waitForIndex(
  context: CommandContext,
  database: Database,
  queued: QueuedJob,
): Promise<Waited> {
  const { terminal } = context;
  const farewell = () =>
    `Stopped waiting. The work stays queued: nightdesk batch wait ${JSON.stringify(queued.batch)}`;
  return interruptible(terminal, farewell, async (atInterrupt) => {
    const keeper = keepWorker(context, database);
    atInterrupt(() => {
      keeper.stop();
    });
    const meter = createIndexMeter();
    const waited = await pollUntil(async () => {
      const jobs = await selectWaitingJobs(database, queued.batchId);
      const found = judge(jobs);
      if (found !== undefined) return found;
      if (terminal.isInteractive) {
        terminal.status(meter.read(jobs, await selectEmbedProgress(database, queued.batchId)));
      }
      await keeper.look();
      return undefined;
    });
    terminal.clearStatus();
    return waited;
  });
}

const isFinal = ({ state }: WaitingJob): boolean => FINAL_STATES.some((final) => final === state);

function judge(jobs: readonly WaitingJob[]): Waited | undefined {
  const open = jobs.filter((job) => !isFinal(job));
  const [first] = open;
  if (first === undefined) return { kind: "ended", jobs };
  const canGoOn = open.some(
    ({ state, holdReason }) => state === "running" || (state === "queued" && holdReason === null),
  );
  return canGoOn ? undefined : { kind: "delayed", job: first };
}
