import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import type { Config } from "../../shared/config/schema.ts";
import { measureEmbeddings } from "../../shared/store/index/embeddings.ts";
import { STATEMENT_LIMITS_MS } from "../../shared/store/connection/limited-client.ts";
import { reportProgress } from "../../shared/store/jobs/claim-job.ts";
import type { ClaimedJob } from "../../shared/store/jobs/claim-job.ts";
import { indexSettingsOf } from "../../shared/index-settings.ts";
import type { IndexInput } from "../../shared/job.ts";
import type { Answer } from "../../shared/run-result.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import { bindSources } from "../retrieval/bind-sources.ts";
import { indexSources } from "../retrieval/index-sources.ts";
import type { IndexSummary } from "../retrieval/index-sources.ts";
import { embedJob, isWorthSharing, planEmbedJobs, queueBehind } from "./fan-out-embed.ts";
import { keepIndexOf } from "./index-vectors.ts";
import { chunkSettingsOf, sourcesOf } from "./settings-of.ts";
import { throttle } from "./throttle.ts";
import type { WorkerResources } from "./worker-resources.ts";

export type JobCall<Input> = {
  readonly job: ClaimedJob;
  readonly input: Input;
  readonly trace: RunTrace;
  readonly signal: AbortSignal;
};

/** Scans the sources, then queues embed jobs in the same batch when chunks miss a vector. */
export async function runIndex(
  call: JobCall<IndexInput>,
  resources: WorkerResources,
): Promise<Answer> {
  const summary = await call.trace.step("index", () => scan(call, resources));
  call.trace.mayTake(STATEMENT_LIMITS_MS.build);
  const missing = call.input.options?.embed === false ? 0 : await queueEmbed(call.job, resources);
  return {
    kind: "succeeded",
    answer: null,
    scope: null,
    citations: [],
    summary: {
      ...summary,
      vectors_missing: missing,
      settings: indexSettingsOf(resources.config),
    },
  };
}

/** A large folder is listed before the first document is read. */
const SCAN_MS = 60 * 60_000;

async function scan(
  { job, input, trace, signal }: JobCall<IndexInput>,
  { config, database, sandbox }: WorkerResources,
): Promise<IndexSummary> {
  const { source, rebuild, verify, prune, prune_missing: pruneMissing } = input.options ?? {};
  trace.mayTake(SCAN_MS);
  if (config.security.auto_create_allowed_roots) await createSourceRoots(config);
  const report = throttle((progress: Readonly<Record<string, unknown>>) =>
    reportProgress(database, job.runId, progress),
  );
  return indexSources(
    {
      db: database,
      sources: bindSources(await sandbox(), sourcesOf(config), config.roots.workroot),
      extensions: config.security.allowed_exts,
      chunking: chunkSettingsOf(config),
    },
    {
      ...(source === undefined ? {} : { source }),
      rebuild: rebuild === true,
      verify: verify === true,
      pruneForeign: prune === true,
      pruneOfEmptyRoot: pruneMissing === true ? "allowed" : "never",
      signal,
      onProgress: ({ documentsDone, documentsTotal, tally }) => {
        trace.mayTake(SCAN_MS);
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

/** @returns how many chunks miss a vector */
async function queueEmbed(job: ClaimedJob, resources: WorkerResources): Promise<number> {
  const { database } = resources;
  const embedder = await resources.embedder();
  const space = { model: embedder.id, signature: embedder.signature };
  const { missing, outdated, current } = await measureEmbeddings(database, space);
  // Vectors that are stored behind an index cost more than the index that is built when they are all there: after a
  // rebuild the old one, of which no vector is left, goes first.
  if (missing === 0 || current === 0) await keepIndexOf(embedder, current, resources);
  if (missing === 0) return 0;
  const customId = `${job.customId}.embed`;
  // Where vectors are outdated, one job says so, and not each of many.
  const jobs =
    outdated === 0 && isWorthSharing(missing)
      ? await planEmbedJobs(database, space, customId, { due: missing, chunks: {} })
      : [embedJob(customId, {})];
  if (jobs.length > 0) await queueBehind(job, database, jobs);
  return missing;
}
