import { z } from "zod";
import type { WaitingJob } from "../../shared/db/jobs/read-waiting.ts";
import { formatCount } from "../print/quantity.ts";

const progressSchema = z.object({
  phase: z.string().optional(),
  done: z.number(),
  total: z.number().nullish(),
  unit: z.string().optional(),
});

/** One line on the job that is being worked: `index: 120 of 2,000 documents`. */
export function describeProgress(jobs: readonly WaitingJob[]): string {
  const job =
    jobs.find(({ state }) => state === "running") ?? jobs.find(({ state }) => state === "queued");
  if (job === undefined) return "";
  if (job.state === "queued") return `${job.kind}: waiting for a worker`;
  const parsed = progressSchema.safeParse(job.progress);
  if (!parsed.success) return `${job.kind}: running`;
  const { phase, done, total, unit } = parsed.data;
  const amount =
    typeof total === "number" ? `${formatCount(done)} of ${formatCount(total)}` : formatCount(done);
  const step = phase === job.kind ? undefined : phase;
  return [`${job.kind}:`, step, amount, unit].filter((word) => word !== undefined).join(" ");
}
