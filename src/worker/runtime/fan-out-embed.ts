import { createHash } from "node:crypto";
import { selectDueRanges } from "../../shared/store/index/embeddings.ts";
import type { VectorSpace } from "../../shared/store/index/embeddings.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { notifyJobs } from "../../shared/store/jobs/batches.ts";
import { holdJob } from "../../shared/store/jobs/claim-job.ts";
import type { ClaimedJob } from "../../shared/store/jobs/claim-job.ts";
import { insertJobs } from "../../shared/store/jobs/insert-jobs.ts";
import type { NewJob } from "../../shared/store/jobs/insert-jobs.ts";
import type { EmbedChunksInput } from "../../shared/job.ts";
import { RunAborted } from "../../shared/settlement.ts";

type EmbedChunks = EmbedChunksInput["chunks"];

/** Chunks of one job: a second of the hashing embedder, some minutes of a model on two cores. */
const CHUNKS_OF_A_JOB = 2_000;
/** Who waits for a batch looks at 100 of its jobs. */
const MOST_JOBS = 64;
/** A custom id takes 512 characters, and the range comes behind it. */
const MOST_PREFIX_CHARS = 440;

/** Whether so many chunks are worth more than one job: below it, handing them out costs more than it gives. */
export const isWorthSharing = (due: number): boolean => due > CHUNKS_OF_A_JOB;

/**
 * One job a range of chunks that are due, each for whoever takes it. None overlaps another, and each may be done twice:
 * it embeds what is due in its range then.
 * @param prefix of the custom ids
 * @param shared what the jobs have in common
 */
export async function planEmbedJobs(
  database: Database,
  space: VectorSpace,
  prefix: string,
  shared: { readonly due: number; readonly chunks: EmbedChunks },
): Promise<NewJob[]> {
  const { due, chunks } = shared;
  const size = Math.max(CHUNKS_OF_A_JOB, Math.ceil(due / MOST_JOBS));
  const ranges = await selectDueRanges(database, space, chunks.redo_before ?? null, size);
  const { signature } = space;
  return ranges.map((range) =>
    embedJob(`${prefix.slice(0, MOST_PREFIX_CHARS)}.${range.after + 1}-${range.upto}`, {
      ...chunks,
      range,
      signature,
    }),
  );
}

export function embedJob(customId: string, chunks: EmbedChunks): NewJob {
  const input: EmbedChunksInput = { kind: "embed", chunks };
  const inputSha256 = createHash("sha256").update(JSON.stringify(input)).digest("hex");
  return { customId, input, inputSha256, priority: 0 };
}

/**
 * Queues jobs in the batch of the job in hand, and only while that is this run's: they could be left in a batch that
 * has ended. Those that an earlier attempt queued are there already.
 * @throws RunAborted when the run has lost its job
 */
export async function queueBehind(
  { batchId, runId }: ClaimedJob,
  database: Database,
  jobs: readonly NewJob[],
): Promise<void> {
  await database.transaction(async (db) => {
    await insertJobs(db, batchId, jobs);
    if (!(await holdJob(db, runId))) throw new RunAborted("lease_lost");
    await notifyJobs(db);
  });
}
