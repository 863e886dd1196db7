import { z } from "zod";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectEmbedProgress } from "../../shared/store/index/embeddings.ts";
import type { EmbedProgress } from "../../shared/store/index/embeddings.ts";
import type { WaitingJob } from "../../shared/store/jobs/waiting.ts";
import type { QueuedJob } from "../../shared/store/jobs/queue-ad-hoc.ts";
import { countOf, formatCount } from "../../shared/views/quantity.ts";
import { createRateMeter, formatLeft } from "./estimate-left.ts";
import type { RateMeter } from "./estimate-left.ts";
import { isFinal, waitByPlan } from "./wait-for-jobs.ts";
import type { Waited } from "./wait-for-jobs.ts";

/**
 * Waits for an index or embed job and the jobs that it queues, until all have ended or none can go on; if one job is parked,
 * it still waits for the others.
 * @param isEnough whether to stop waiting
 */
export function waitForIndex(
  context: CommandContext,
  database: Database,
  queued: QueuedJob,
  isEnough: (jobs: readonly WaitingJob[]) => boolean = () => false,
): Promise<Waited> {
  const meter = createIndexMeter();
  return waitByPlan(context, database, queued, {
    judge: (jobs) => (isEnough(jobs) ? { kind: "ended", jobs } : outcomeOf(jobs)),
    describe: async (jobs) => meter.read(jobs, await selectEmbedProgress(database, queued.batchId)),
  });
}

function outcomeOf(jobs: readonly WaitingJob[]): Waited | undefined {
  const open = jobs.filter((job) => !isFinal(job));
  const [first] = open;
  if (first === undefined) return { kind: "ended", jobs };
  const canGoOn = open.some(
    ({ state, holdReason }) => state === "running" || (state === "queued" && holdReason === null),
  );
  return canGoOn ? undefined : { kind: "delayed", job: first };
}

const scanSchema = z.object({
  done: z.number(),
  total: z.number().nullish(),
  chunks: z.number().nullish(),
  format: z.string().nullish(),
});

type IndexMeter = {
  /** One line on the progress of index and embed jobs, with the time left. */
  read(jobs: readonly WaitingJob[], vectors: EmbedProgress): string;
};

/** @param now monotonic clock, milliseconds */
export function createIndexMeter(
  now: () => number = performance.now.bind(performance),
): IndexMeter {
  const documents = createRateMeter(now);
  const vectors = createRateMeter(now);
  return {
    read(jobs, embedded) {
      const scan = jobs.find(({ kind, state }) => kind === "index" && state === "running");
      if (scan !== undefined) return formatScan(scan, documents);
      const pictures = formatPictures(jobs);
      if (pictures !== undefined) return pictures;
      const isRunning = jobs.some(({ state }) => state === "running");
      const next = jobs.find(({ state }) => state === "queued");
      if (!isRunning && next !== undefined && embedded.done === 0) {
        return `${next.kind}: waiting for a worker`;
      }
      return embedded.jobs === 0 ? "" : formatVectors(embedded, vectors);
    },
  };
}

/** `ocr: 3 of 12 files · page 4 of 20 of the next`. */
function formatPictures(jobs: readonly WaitingJob[]): string | undefined {
  const own = jobs.filter(({ kind }) => kind === "ocr");
  const ended = own.filter(isFinal).length;
  const running = own.find(({ state }) => state === "running");
  if (running === undefined) return undefined;
  const { done, total } = scanSchema.safeParse(running.progress).data ?? {};
  const pages =
    done === undefined ? [] : [`${amountOf(done, total ?? undefined)} pages of the next`];
  return [`ocr: ${amountOf(ended, own.length)} files`, ...pages].join(" · ");
}

function formatScan({ progress }: WaitingJob, meter: RateMeter): string {
  const parsed = scanSchema.safeParse(progress);
  if (!parsed.success) return "index: running";
  const { done, total, chunks, format } = parsed.data;
  return [
    `index: ${amountOf(done, total ?? undefined)} documents`,
    ...(typeof format === "string" ? [format] : []),
    ...(typeof chunks === "number" ? [countOf(chunks, "chunk")] : []),
    ...formatRate(meter.read(done, total ?? undefined)),
  ].join(" · ");
}

function formatVectors({ jobs, ended, due, done }: EmbedProgress, meter: RateMeter): string {
  if (due === 0) return "embed: running";
  return [
    `embed: ${amountOf(done, due)} vectors`,
    ...(jobs > 1 ? [`${ended} of ${jobs} jobs`] : []),
    ...formatRate(meter.read(done, due)),
  ].join(" · ");
}

const amountOf = (done: number, total: number | undefined): string =>
  total === undefined ? formatCount(done) : `${formatCount(done)} of ${formatCount(total)}`;

function formatRate(rate: ReturnType<RateMeter["read"]>): readonly string[] {
  if (rate === undefined) return [];
  const { perSecond, secondsLeft } = rate;
  return [
    `${perSecond < 10 ? perSecond.toFixed(1) : formatCount(perSecond)}/s`,
    ...(secondsLeft === undefined ? [] : [formatLeft(secondsLeft)]),
  ];
}
