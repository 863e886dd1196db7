import { Failure, refuse } from "../../shared/failure.ts";
import { vectorDigestsOf } from "../../shared/config/index-settings.ts";
import type { EmbedChunksInput, EmbedTextInput } from "../../shared/job/job.ts";
import { summaryAlone } from "../../shared/job/run-result.ts";
import type { Answer, Outcome } from "../../shared/job/run-result.ts";
import { REST_MS } from "../run-trace.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { STATEMENT_LIMITS_MS } from "../../shared/store/connection/limited-client.ts";
import { measureEmbeddings, selectStartedAt } from "../../shared/store/index/embeddings.ts";
import { reportProgress } from "../../shared/store/jobs/claim-job.ts";
import { storeJobVectors } from "../../shared/store/jobs/store-result.ts";
import { spaceOf } from "../embedders/embedder.ts";
import type { Embedder } from "../embedders/embedder.ts";
import { throttle } from "../loop.ts";
import type { WorkerResources } from "../resources.ts";
import { embedChunks } from "../index/embed-chunks.ts";
import type { EmbedSummary } from "../index/embed-chunks.ts";
import {
  dropIndexOf,
  indexWhenLast,
  isWorthSharing,
  planEmbedJobs,
  queueInBatch,
} from "./reindex.ts";
import type { JobCall } from "./open-run.ts";

type EmbedCall = JobCall<EmbedChunksInput> & { readonly embedder: Embedder };

/**
 * Makes vectors for chunks of the index that have none or an outdated one. A long job for the whole index splits it into
 * ranges instead, and each range becomes a job for any worker.
 */
export async function runEmbedChunks(
  call: JobCall<EmbedChunksInput>,
  resources: WorkerResources,
): Promise<Answer> {
  const { input, job, trace } = call;
  const embedder = await resources.embedderOf(input.chunks.model);
  refuseOther(embedder, input.chunks.signature);
  const chunks = await withStart(resources.database, job.jobId, input.chunks);
  const planned = { ...call, embedder, input: { ...input, chunks } };
  const shared = await trace.step("plan", () => {
    trace.mayTake(STATEMENT_LIMITS_MS.build);
    return splitIntoJobs(planned, resources);
  });
  if (shared !== undefined) return summaryAlone({ ...shared });
  const made = await trace.step("embed", () => embedRange(planned, resources));
  const summary = { ...made, settings: vectorDigestsOf(resources.config) };
  const { missing, outdated } = made;
  if (chunks.dry_run === true || missing + outdated > 0) return summaryAlone({ ...summary });
  const vector_index = await trace.step("index_vectors", () => {
    trace.mayTake(STATEMENT_LIMITS_MS.build);
    return indexWhenLast(
      {
        batchId: job.batchId,
        redoBefore: chunks.redo_before ?? null,
        isConfigured: isConfigured(chunks.model, resources),
      },
      embedder,
      resources,
    );
  });
  return summaryAlone({ ...summary, vector_index });
}

/** Vectors of another model, which --model names, serve requests for that model only; search does not use them. */
const isConfigured = (model: string | undefined, { config }: WorkerResources): boolean =>
  model === undefined || model === config.embed.model_id;

/** An interrupted rebuild continues: it keeps the vectors made since its first attempt. */
async function withStart(
  database: Database,
  jobId: string,
  chunks: EmbedChunksInput["chunks"],
): Promise<EmbedChunksInput["chunks"]> {
  if (chunks.rebuild !== true || chunks.redo_before !== undefined) return chunks;
  return { ...chunks, redo_before: await selectStartedAt(database, jobId) };
}

/** @throws Failure EMBED_DRIFT when this worker's embedder is not the one that the job was planned for */
function refuseOther({ id, signature }: Embedder, planned: string | undefined): void {
  if (planned === undefined || planned === signature) return;
  throw new Failure(
    "EMBED_DRIFT",
    `This worker's embedder "${id}" has other files or settings than that of the worker that planned the job. ` +
      "Give all workers the same embed.* settings and model, start them again, and run: nightdesk embed",
  );
}

/**
 * Drops the vector index when all vectors are made again. Only this job does so: the jobs that it plans have ranges.
 * @returns the summary of a job that was split, or undefined when this worker has to make the vectors here
 */
async function splitIntoJobs(
  { job, input: { chunks }, embedder }: EmbedCall,
  resources: WorkerResources,
): Promise<(EmbedSummary & { readonly jobs: number }) | undefined> {
  if (chunks.range !== undefined || chunks.limit !== undefined || chunks.dry_run === true) {
    return undefined;
  }
  const { database } = resources;
  const space = spaceOf(embedder);
  const redoBefore = chunks.redo_before ?? null;
  const state = await measureEmbeddings(database, space, { range: null, redoBefore });
  if (state.due === state.chunks) await dropIndexOf(embedder, resources);
  if (!isWorthSharing(state.due)) return undefined;
  const jobs = await planEmbedJobs(database, space, job.customId, { due: state.due, chunks });
  await queueInBatch(job, database, jobs);
  const { chunks: chunks_total, due, outdated, missing } = state;
  const counts = {
    chunks_total,
    embedded: 0,
    rounded: 0,
    skipped: chunks_total - due,
    outdated,
    missing,
  };
  return { ...space, dims: embedder.dims, ...counts, cut: 0, jobs: jobs.length };
}

function embedRange(
  { job, input: { chunks }, embedder, trace, signal }: EmbedCall,
  { config, database }: WorkerResources,
): Promise<EmbedSummary> {
  const report = throttle((progress: Readonly<Record<string, unknown>>) =>
    reportProgress(database, job.runId, progress),
  );
  return embedChunks(
    { db: database, embedder },
    {
      rebuild: chunks.rebuild === true,
      redoBefore: chunks.redo_before,
      dryRun: chunks.dry_run === true,
      range: chunks.range,
      limit: chunks.limit,
      batchSize: chunks.batch_size ?? config.embed.batch_size,
      signal,
      onProgress: (done, total) => {
        trace.mayTake(REST_MS);
        report({ phase: "embed", unit: "vectors", done, total });
      },
    },
  );
}

/** Makes vectors of free text: stored with the job, never added to the index. */
export async function runEmbedText(
  { job, input, trace, signal }: JobCall<EmbedTextInput>,
  resources: WorkerResources,
): Promise<Outcome> {
  const embedder = await resources.embedder();
  if (input.dimensions !== undefined && input.dimensions !== embedder.dims) {
    return refuse(
      "MODEL_UNSUPPORTED",
      `"${embedder.id}" makes vectors of ${embedder.dims} dimensions, and the job asks for ${input.dimensions}. ` +
        "Leave dimensions out, or choose another embed.model_id.",
    );
  }
  const texts = typeof input.text === "string" ? [input.text] : input.text;
  const vectors = await trace.step("embed", () => embedder.embed(texts, signal));
  const { id, dims } = embedder;
  trace.models([{ pass: "first", model: id, why: "embed.model_id", facts: { dims } }]);
  await storeJobVectors(resources.database, job, { model: embedder.id, vectors });
  return summaryAlone({ texts: texts.length, dims: embedder.dims, model: embedder.id });
}
