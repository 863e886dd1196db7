import { createHash } from "node:crypto";
import { notifyJobs } from "../../shared/db/jobs/batches.ts";
import { reportProgress } from "../../shared/db/jobs/claim-job.ts";
import type { ClaimedJob } from "../../shared/db/jobs/claim-job.ts";
import { insertJobs } from "../../shared/db/jobs/insert-jobs.ts";
import type { EmbedChunksInput, IndexInput } from "../../shared/job.ts";
import type { Answer } from "../../shared/run-result.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import { countMissingVectors } from "../retrieval/embed-chunks.ts";
import { indexSources } from "../retrieval/index-sources.ts";
import { throttle } from "./throttle.ts";
import type { WorkerResources } from "./worker-resources.ts";

export type JobCall<Input> = {
  readonly job: ClaimedJob;
  readonly input: Input;
  readonly trace: RunTrace;
  readonly signal: AbortSignal;
};

/** Scans the sources, then queues an embed job in the same batch when chunks miss a vector. */
export async function runIndex(
  { job, input, trace, signal }: JobCall<IndexInput>,
  resources: WorkerResources,
): Promise<Answer> {
  const { config, database } = resources;
  const { source, rebuild, embed } = input.options ?? {};
  const onProgress = throttle((progress: Readonly<Record<string, unknown>>) =>
    reportProgress(database, job.runId, { phase: "index", ...progress }),
  );
  const summary = await trace.step("index", async () =>
    indexSources(
      { database, sandbox: await resources.sandbox(), config, onProgress, signal },
      { ...(source === undefined ? {} : { source }), rebuild: rebuild === true },
    ),
  );
  const missing =
    embed === false ? 0 : await countMissingVectors(database, await resources.embedder());
  if (missing > 0) await queueEmbed(job, resources);
  return {
    kind: "succeeded",
    answer: null,
    scope: null,
    citations: [],
    summary: { ...summary, vectors_missing: missing },
  };
}

async function queueEmbed(job: ClaimedJob, { database }: WorkerResources): Promise<void> {
  const input: EmbedChunksInput = { kind: "embed", chunks: {} };
  const inputSha256 = createHash("sha256").update(JSON.stringify(input)).digest("hex");
  await insertJobs(database, job.batchId, [
    { customId: `${job.customId}.embed`, input, inputSha256, priority: 0 },
  ]);
  await notifyJobs(database);
}
