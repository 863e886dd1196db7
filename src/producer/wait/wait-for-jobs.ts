import type { CommandContext } from "../../shared/command-context.ts";
import type { Database } from "../../shared/db/database.ts";
import { selectWaitingJobs } from "../../shared/db/jobs/read-waiting.ts";
import type { WaitingJob } from "../../shared/db/jobs/read-waiting.ts";
import { Failure } from "../../shared/failure.ts";
import { FINAL_STATES } from "../../shared/job.ts";
import type { QueuedJob } from "../enqueue/queue-ad-hoc.ts";
import { describeProgress } from "./describe-progress.ts";
import { hintHost } from "./hint-host.ts";
import { interruptible } from "./interrupt.ts";
import { keepWorker } from "./keep-worker.ts";
import { pollUntil } from "./poll.ts";

/** How the wait for the jobs of an ad-hoc batch ended. */
export type Waited =
  | { readonly kind: "ended"; readonly jobs: readonly WaitingJob[] }
  /** Parked, or its batch held: it goes on by itself, later. */
  | { readonly kind: "delayed"; readonly job: WaitingJob };

/** How one waits: when it is over, and what the terminal shows until then. */
export type WaitPlan = {
  /** What the jobs have come to; undefined while they are to be waited for. */
  readonly judge: (jobs: readonly WaitingJob[]) => Waited | undefined;
  readonly describe: (jobs: readonly WaitingJob[]) => string | Promise<string>;
};

/** Waits until every job of an ad-hoc batch has ended, or one of them is parked or held. Shows progress on a terminal. */
export const waitForJobs = (
  context: CommandContext,
  database: Database,
  queued: QueuedJob,
): Promise<Waited> =>
  waitByPlan(context, database, queued, { judge: judgeAll, describe: describeProgress });

/** Waits for the jobs of an ad-hoc batch as a plan says, keeps a worker alive meanwhile, and says farewell when interrupted. */
export async function waitByPlan(
  context: CommandContext,
  database: Database,
  queued: QueuedJob,
  { judge, describe }: WaitPlan,
): Promise<Waited> {
  const { terminal } = context;
  await hintHost(context, database);
  const farewell = () =>
    `Stopped waiting. The work stays queued: nightdesk batch wait ${JSON.stringify(queued.batch)}`;
  return interruptible(terminal, farewell, async (atInterrupt) => {
    const keeper = keepWorker(context, database);
    atInterrupt(() => {
      keeper.stop();
    });
    const waited = await pollUntil(async () => {
      const jobs = await selectWaitingJobs(database, queued.batchId);
      const found = judge(jobs);
      if (found !== undefined) return found;
      if (terminal.isInteractive) terminal.status(await describe(jobs));
      await keeper.look();
      refuseWithoutQueue(keeper.queueFault(), jobs, queued.batch);
      return undefined;
    });
    terminal.clearStatus();
    return waited;
  });
}

/** What runs can end without the queue; what waits would wait without a word. */
function refuseWithoutQueue(
  fault: Failure | undefined,
  jobs: readonly WaitingJob[],
  batch: string,
): void {
  if (fault === undefined || jobs.some(({ state }) => state === "running")) return;
  throw new Failure(
    "QUEUE_UNREACHABLE",
    `${fault.message} The work stays queued: nightdesk batch wait ${JSON.stringify(batch)}`,
    { cause: fault },
  );
}

export const isFinal = ({ state }: WaitingJob): boolean =>
  FINAL_STATES.some((final) => final === state);

function judgeAll(jobs: readonly WaitingJob[]): Waited | undefined {
  if (jobs.every(isFinal)) return { kind: "ended", jobs };
  const job = jobs.find(
    ({ state, holdReason }) => state === "parked" || (state === "queued" && holdReason !== null),
  );
  return job === undefined ? undefined : { kind: "delayed", job };
}
