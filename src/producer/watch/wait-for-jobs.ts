import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import { isDatabaseGone } from "../../shared/store/connection/database.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectWaitingJobs } from "../../shared/store/jobs/waiting.ts";
import type { WaitingJob } from "../../shared/store/jobs/waiting.ts";
import { Failure } from "../../shared/failure.ts";
import { runInterruptible } from "../../shared/terminal/interruptible.ts";
import { FINAL_STATES } from "../../shared/job/job.ts";
import type { QueuedJob } from "../../shared/store/jobs/queue-ad-hoc.ts";
import { formatCount } from "../../shared/views/quantity.ts";
import { ensureWorker } from "./ensure-worker.ts";
import { hintHost } from "./obstacles.ts";
import { quoteForShell } from "../../shared/terminal/styled-text.ts";

/** How the wait for the jobs of an ad-hoc batch ended. */
export type Waited =
  | { readonly kind: "ended"; readonly jobs: readonly WaitingJob[] }
  /** The job is parked, or its batch is held; it goes on later by itself. */
  | { readonly kind: "delayed"; readonly job: WaitingJob };

/** When a wait ends, and what the terminal shows until then. */
type WaitPlan = {
  /** The outcome of the jobs; undefined to wait on. */
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

/** Waits for the jobs of an ad-hoc batch by a plan, keeps a worker alive meanwhile, and prints how to go on after an interrupt. */
export async function waitByPlan(
  context: CommandContext,
  database: Database,
  queued: QueuedJob,
  { judge, describe }: WaitPlan,
): Promise<Waited> {
  const { terminal } = context;
  await hintHost(context, database);
  const onInterrupt = () =>
    `Stopped waiting. The work stays queued: nightdesk batch wait ${quoteForShell(queued.batch)}`;
  return runInterruptible(terminal, onInterrupt, async (atInterrupt) => {
    const keeper = ensureWorker(context, database);
    atInterrupt(() => {
      keeper.stop();
    });
    const waited = await pollUntil(async () => {
      const jobs = await selectWaitingJobs(database, queued.batchId);
      const found = judge(jobs);
      if (found !== undefined) return found;
      if (terminal.isInteractive) terminal.status(await describe(jobs));
      await keeper.check();
      refuseWithoutQueue(keeper.queueFault(), jobs, queued.batch);
      return undefined;
    });
    terminal.clearStatus();
    return waited;
  });
}

/** Fails if the queue is unreachable and no job runs: running jobs can end without the queue, others would wait silently. */
function refuseWithoutQueue(
  fault: Failure | undefined,
  jobs: readonly WaitingJob[],
  batch: string,
): void {
  if (fault === undefined || jobs.some(({ state }) => state === "running")) return;
  throw new Failure(
    "QUEUE_UNREACHABLE",
    `${fault.message} The work stays queued: nightdesk batch wait ${quoteForShell(batch)}`,
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

/** One line on the running job: `index: 120 of 2,000 documents`. */
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
/** The embedded database may be killed and restarted while a command waits. */
const AWAY_MS = 60_000;

/**
 * Polls until there is a result: at once, after 10 ms, then at growing intervals up to 250 ms. It tolerates a database
 * that is away for less than a minute.
 * @param poll returns undefined while there is no result
 */
export async function pollUntil<T>(poll: () => Promise<T | undefined>): Promise<T> {
  let pause = FIRST_MS;
  let awaySince: number | undefined;
  for (;;) {
    try {
      const found = await poll();
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
