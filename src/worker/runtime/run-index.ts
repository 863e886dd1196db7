import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import type { Config } from "../../shared/config/schema.ts";
import type { Database } from "../../shared/db/database.ts";
import { measureEmbeddings } from "../../shared/db/index/embeddings.ts";
import { notifyJobs } from "../../shared/db/jobs/batches.ts";
import { holdJob, reportProgress } from "../../shared/db/jobs/claim-job.ts";
import type { ClaimedJob } from "../../shared/db/jobs/claim-job.ts";
import { insertJobs } from "../../shared/db/jobs/insert-jobs.ts";
import type { EmbedChunksInput, IndexInput } from "../../shared/job.ts";
import type { Answer } from "../../shared/run-result.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import { RunAborted } from "../../shared/settlement.ts";
import { bindSources } from "../retrieval/bind-sources.ts";
import { indexSources } from "../retrieval/index-sources.ts";
import type { IndexSummary } from "../retrieval/index-sources.ts";
import { chunkSettingsOf } from "./settings-of.ts";
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
  call: JobCall<IndexInput>,
  resources: WorkerResources,
): Promise<Answer> {
  const summary = await call.trace.step("index", () => scan(call, resources));
  const missing = call.input.options?.embed === false ? 0 : await countMissing(resources);
  if (missing > 0) await queueEmbed(call.job, resources.database);
  return {
    kind: "succeeded",
    answer: null,
    scope: null,
    citations: [],
    summary: { ...summary, vectors_missing: missing },
  };
}

async function scan(
  { job, input, signal }: JobCall<IndexInput>,
  { config, database, sandbox }: WorkerResources,
): Promise<IndexSummary> {
  const { source, rebuild } = input.options ?? {};
  if (config.security.auto_create_allowed_roots) await createSourceRoots(config);
  const report = throttle((progress: Readonly<Record<string, unknown>>) =>
    reportProgress(database, job.runId, progress),
  );
  return indexSources(
    {
      db: database,
      sources: bindSources(await sandbox(), config.index.sources, config.roots.workroot),
      extensions: config.security.allowed_exts,
      chunking: chunkSettingsOf(config),
    },
    {
      ...(source === undefined ? {} : { source }),
      rebuild: rebuild === true,
      pruneOfEmptyRoot: rebuild === true ? "allowed" : "never",
      signal,
      onProgress: ({ documentsDone, documentsTotal, tally }) => {
        report({
          phase: "index",
          unit: "documents",
          done: documentsDone,
          total: documentsTotal,
          chunks: tally.chunks_written,
          failed: tally.failed,
        });
      },
    },
  );
}

/** Their places below the allowed roots were checked when the configuration was read. */
async function createSourceRoots({ index, roots }: Config): Promise<void> {
  for (const { root } of index.sources)
    await mkdir(resolve(roots.workroot, root), { recursive: true });
}

async function countMissing({ database, embedder }: WorkerResources): Promise<number> {
  const { id: model, signature } = await embedder();
  return (await measureEmbeddings(database, { model, signature })).missing;
}

/** In the index job's own batch, and only while the job is this run's: it could be left in one that has ended. */
async function queueEmbed({ batchId, customId, runId }: ClaimedJob, database: Database) {
  const input: EmbedChunksInput = { kind: "embed", chunks: {} };
  const inputSha256 = createHash("sha256").update(JSON.stringify(input)).digest("hex");
  await database.transaction(async (db) => {
    await insertJobs(db, batchId, [
      { customId: `${customId}.embed`, input, inputSha256, priority: 0 },
    ]);
    if (!(await holdJob(db, runId))) throw new RunAborted("lease_lost");
    await notifyJobs(db);
  });
}
