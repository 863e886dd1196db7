import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import { isDatabaseGone } from "../../shared/store/connection/database.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectWaitingJobs } from "../../shared/store/jobs/waiting.ts";
import type { WaitingJob } from "../../shared/store/jobs/waiting.ts";
import { Failure } from "../../shared/failure.ts";
import { interruptible } from "../../shared/terminal/interruptible.ts";
import { FINAL_STATES } from "../../shared/job/job.ts";
import type { QueuedJob } from "../../shared/store/jobs/queue-ad-hoc.ts";
import { formatCount } from "../../shared/views/quantity.ts";
import { ensureWorker } from "./ensure-worker.ts";
import { hintHost } from "./obstacles.ts";

/** How the wait for the jobs of an ad-hoc batch ended. */
export type Waited =
  | { readonly kind: "ended"; readonly jobs: readonly WaitingJob[] }
  /** Parked, or its batch held: it goes on by itself, later. */
  | { readonly kind: "delayed"; readonly job: WaitingJob };

/** How one waits: when it is over, and what the terminal shows until then. */
type WaitPlan = {
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
  waitByPlan(context, database, queued, { judge: outcomeOf, describe: formatProgress });

/** Waits for the jobs of an ad-hoc batch as a plan says, keeps a worker alive meanwhile, and says how to go on when interrupted. */
export async function waitByPlan(
  context: CommandContext,
  database: Database,
  queued: QueuedJob,
  { judge, describe }: WaitPlan,
): Promise<Waited> {
  const { terminal } = context;
  await hintHost(context, database);
  const onInterrupt = () =>
    `Stopped waiting. The work stays queued: nightdesk batch wait ${JSON.stringify(queued.batch)}`;
  return interruptible(terminal, onInterrupt, async (atInterrupt) => {
    const keeper = ensureWorker(context, database);
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

function outcomeOf(jobs: readonly WaitingJob[]): Waited | undefined {
  if (jobs.every(isFinal)) return { kind: "ended", jobs };
  const job = jobs.find(
    ({ state, holdReason }) => state === "parked" || (state === "queued" && holdReason !== null),
  );
  return job === undefined ? undefined : { kind: "delayed", job };
}

const stepSchema = z.object({ step: z.string() });

const progressSchema = z.object({
  phase: z.string().optional(),
  done: z.number(),
  total: z.number().nullish(),
  unit: z.string().optional(),
});

/** One line on the job that is being worked: `index: 120 of 2,000 documents`. */
export function formatProgress(jobs: readonly WaitingJob[]): string {
  const job =
    jobs.find(({ state }) => state === "running") ?? jobs.find(({ state }) => state === "queued");
  if (job === undefined) return "";
  if (job.state === "queued") return `${job.kind}: waiting for a worker`;
  const parsed = progressSchema.safeParse(job.progress);
  if (!parsed.success)
    return `${job.kind}: ${stepSchema.safeParse(job.progress).data?.step ?? "running"}`;
  const { phase, done, total, unit } = parsed.data;
  const amount =
    typeof total === "number" ? `${formatCount(done)} of ${formatCount(total)}` : formatCount(done);
  const step = phase === job.kind ? undefined : phase;
  return [`${job.kind}:`, step, amount, unit].filter((word) => word !== undefined).join(" ");
}

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
