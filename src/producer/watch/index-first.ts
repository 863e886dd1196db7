import { z } from "zod";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { findOpenIndexJob, selectWaitingJobs } from "../../shared/store/jobs/waiting.ts";
import type { WaitingJob } from "../../shared/store/jobs/waiting.ts";
import { AT_ONCE, queueAdHoc } from "../../shared/store/jobs/queue-ad-hoc.ts";
import { formatCount } from "../../shared/views/quantity.ts";
import { waitForIndex } from "./wait-for-index.ts";
import { isFinal } from "./wait-for-jobs.ts";

/**
 * Indexes new and changed files before a question, for at most `ask.index_first_s`, or longer until the first file is read.
 * If the time was too short, it reports how many are read; the rest is indexed meanwhile.
 * @returns the number of files that are not read yet
 */
export async function indexFirst(context: CommandContext, database: Database): Promise<number> {
  const { index_first_s: mostSeconds } = context.config.ask;
  if (mostSeconds === null) return 0;
  const queued =
    (await findOpenIndexJob(database)) ??
    (await queueAdHoc(database, { kind: "index", options: {} }, AT_ONCE));
  const until = performance.now() + mostSeconds * 1_000;
  await waitForIndex(context, database, queued, (jobs) => {
    const scan = jobs.find(({ jobId }) => jobId === queued.jobId);
    if (scan === undefined || isFinal(scan)) return true;
    return performance.now() > until && progressOf(scan).done > 0;
  });
  const scan = (await selectWaitingJobs(database, queued.batchId)).find(
    ({ jobId }) => jobId === queued.jobId,
  );
  if (scan?.state !== "running") return 0;
  const { done, total } = progressOf(scan);
  context.terminal.say(
    `${formatCount(done)} of ${formatCount(total)} read: the answer is made from these, and the others are read meanwhile.`,
  );
  return total - done;
}

const progressSchema = z.object({ done: z.number(), total: z.number() });

const progressOf = ({ progress }: WaitingJob): z.infer<typeof progressSchema> =>
  progressSchema.safeParse(progress).data ?? { done: 0, total: 0 };
