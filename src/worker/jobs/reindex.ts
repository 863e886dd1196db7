import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import { Failure } from "../../shared/failure.ts";
import type { Config } from "../../shared/config/schema.ts";
import { indexSettingsOf } from "../../shared/config/index-settings.ts";
import type { EmbedChunksInput, IndexInput, OcrInput } from "../../shared/job/job.ts";
import { summaryAlone } from "../../shared/job/run-result.ts";
import type { Answer } from "../../shared/job/run-result.ts";
import { RunAborted } from "../../shared/job/settlement.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { STATEMENT_LIMITS_MS } from "../../shared/store/connection/limited-client.ts";
import {
  areEmbedJobsWaiting,
  measureEmbeddings,
  selectDueRanges,
} from "../../shared/store/index/embeddings.ts";
import type { VectorSpace } from "../../shared/store/index/embeddings.ts";
import {
  countUnreadFiles,
  rescanUnreadPictures,
  selectFilesWithPictures,
} from "../../shared/store/index/ocr-pages.ts";
import { switchSearchedVectors } from "../../shared/store/index/searched-vectors.ts";
import { asOnlyBuilder, dropVectorIndex } from "../../shared/store/index/vector-index.ts";
import { notifyJobs } from "../../shared/store/jobs/batches.ts";
import { lockJob, reportProgress } from "../../shared/store/jobs/claim-job.ts";
import type { ClaimedJob } from "../../shared/store/jobs/claim-job.ts";
import { insertJobs } from "../../shared/store/jobs/insert-jobs.ts";
import type { NewJob } from "../../shared/store/jobs/insert-jobs.ts";
import { READ_WITH } from "../documents/extraction.ts";
import { readerFingerprint } from "../documents/formats/registry.ts";
import { spaceOf } from "../embedders/embedder.ts";
import type { Embedder } from "../embedders/embedder.ts";
import { throttle } from "../loop.ts";
import { ocrFingerprint } from "../ocr/open-read-pages.ts";
import type { WorkerResources } from "../resources.ts";
import { bindSources } from "../index/sources.ts";
import { indexSources } from "../index/index-sources.ts";
import type { IndexSummary } from "../index/index-sources.ts";
import { reconcileVectorIndex } from "../index/embed-chunks.ts";
import {
  chunkSettingsOf,
  encodingsOf,
  questionSettingsOf,
  readerLimitsOf,
  sourcesOf,
} from "../settings.ts";
import type { JobCall } from "./open-run.ts";

/** Scans the sources, then queues embed jobs in the same batch when chunks miss a vector. */
export async function runIndex(
  call: JobCall<IndexInput>,
  resources: WorkerResources,
): Promise<Answer> {
  if (call.input.options?.ocr === true && resources.config.index.ocr !== null)
    await rescanUnreadPictures(resources.database);
  const summary = await call.trace.step("index", () => scanSources(call, resources, null));
  call.trace.mayTake(STATEMENT_LIMITS_MS.build);
  const missing = call.input.options?.embed === false ? 0 : await queueEmbed(call.job, resources);
  const pictured = await queueOcr(call, resources);
  const settings = indexSettingsOf(resources.config);
  return summaryAlone({ ...summary, ...pictured, vectors_missing: missing, settings });
}

/**
 * Queues a job for each file with unread pictures.
 * @returns how many such files there are, and how many have no text until then; nothing when index.ocr is not set
 */
async function queueOcr(
  { input, job }: JobCall<IndexInput>,
  { config, database }: WorkerResources,
): Promise<{ readonly pictured_files?: number; readonly waiting_files?: number }> {
  const settings = ocrFingerprint(config.index.ocr);
  if (settings === null) return {};
  const { source = null, ocr } = input.options ?? {};
  const paths = await selectFilesWithPictures(database, { settings, readWith: READ_WITH, source });
  const jobs = paths.map((path) =>
    jobOf(idBehind(job, `ocr.${hash("sha256", path).slice(0, 16)}`), { kind: "ocr", path }),
  );
  if (ocr !== true) return { pictured_files: paths.length };
  if (jobs.length > 0) await queueInBatch(job, database, jobs);
  return { pictured_files: paths.length, waiting_files: await countUnreadFiles(database, source) };
}

/** Time until the first progress: a large folder is listed completely before the first document is read. */
const SCAN_MS = 60 * 60_000;

/**
 * @param only paths of files; null scans all sources
 * @throws Failure SOURCE_UNAVAILABLE when the work root was moved since the worker started: its sources would look empty
 */
export async function scanSources(
  { job, input, trace, signal }: JobCall<Pick<IndexInput, "options">>,
  { config, database, sandbox, offloadDocuments }: WorkerResources,
  only: readonly string[] | null,
): Promise<IndexSummary> {
  const { source, rebuild, verify, prune, prune_missing: pruneMissing } = input.options ?? {};
  const { workroot } = config.roots;
  if (!existsSync(workroot)) {
    throw new Failure(
      "SOURCE_UNAVAILABLE",
      `The work root "${workroot}" is gone: move it back, or stop this worker and start one where the folder is now.`,
    );
  }
  trace.mayTake(SCAN_MS);
  if (config.security.auto_create_allowed_roots) await createSourceRoots(config);
  const report = throttle((progress: Readonly<Record<string, unknown>>) =>
    reportProgress(database, job.runId, progress),
  );
  return indexSources(
    {
      db: database,
      sources: bindSources(await sandbox(), sourcesOf(config), workroot),
      extensions: config.security.allowed_exts,
      chunking: chunkSettingsOf(config),
      reader: readerFingerprint(
        readerLimitsOf(config),
        encodingsOf(config),
        ocrFingerprint(config.index.ocr),
      ),
      offload: offloadDocuments,
      keep: config.documents.keep === "none" ? undefined : config.documents,
    },
    {
      ...(source === undefined ? {} : { source }),
      ...(only === null ? {} : { only: new Set(only) }),
      rebuild: rebuild === true,
      verify: verify === true,
      pruneForeign: prune === true,
      pruneOfEmptyRoot: pruneMissing === true ? "allowed" : "never",
      signal,
      onProgress: ({ documentsDone, documentsTotal, format, tally }) => {
        trace.mayTake(SCAN_MS);
        report({
          phase: "index",
          unit: "documents",
          done: documentsDone,
          total: documentsTotal,
          chunks: tally.chunks_written,
          ...(format === undefined ? {} : { format }),
          failed: tally.failed,
        });
      },
    },
  );
}

/** Reading the configuration has checked that these folders lie below the allowed roots. */
async function createSourceRoots({ index, roots }: Config): Promise<void> {
  for (const { root } of index.sources)
    await mkdir(resolve(roots.workroot, root), { recursive: true });
}

/** Queues the jobs that make missing vectors. @returns how many chunks miss a vector */
export async function queueEmbed(job: ClaimedJob, resources: WorkerResources): Promise<number> {
  const { database } = resources;
  const embedder = await resources.embedder();
  const space = spaceOf(embedder);
  const state = await measureEmbeddings(database, space);
  const { current } = state;
  const missing = state.missing + state.outdated;
  // Storing vectors under an existing index costs more than building the index once they are all stored: after a rebuild,
  // when no vector of the old index is left, the old index goes first.
  if (missing === 0 || current === 0) await reconcileIndexOf(embedder, current, resources);
  if (missing === 0) return 0;
  const customId = idBehind(job, "embed");
  const jobs = isWorthSharing(missing)
    ? await planEmbedJobs(database, space, customId, { due: missing, chunks: {} })
    : [embedJob(customId, {})];
  if (jobs.length > 0) await queueInBatch(job, database, jobs);
  return missing;
}

type EmbedChunks = EmbedChunksInput["chunks"];

/** Chunks per job: one second of the hashing embedder, some minutes of a model on two cores. */
const CHUNKS_OF_A_JOB = 2_000;
/** A client that waits for a batch reads 100 of its jobs. */
const MOST_JOBS = 64;
/** A custom id has at most 512 characters, and a range or the name of a step follows this prefix. */
const MOST_PREFIX_CHARS = 440;
const cutId = (prefix: string): string => prefix.slice(0, MOST_PREFIX_CHARS).toWellFormed();

/** The custom id of a job that another job queues: the same in each attempt. */
export const idBehind = ({ customId }: ClaimedJob, step: string): string =>
  `${cutId(customId)}.${step}`;

/** Whether so many chunks are worth several jobs: below this, planning the jobs costs more than it saves. */
export const isWorthSharing = (due: number): boolean => due > CHUNKS_OF_A_JOB;

/**
 * Plans one job for each range of chunks that are due. Ranges do not overlap, and any worker may take a job, even twice: it
 * embeds whatever is due in its range at that time.
 * @param prefix the start of the custom ids
 * @param shared the fields that all the jobs have
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
    embedJob(`${cutId(prefix)}.${range.after + 1}-${range.upto}`, {
      ...chunks,
      range,
      signature,
    }),
  );
}

const embedJob = (customId: string, chunks: EmbedChunks): NewJob =>
  jobOf(customId, { kind: "embed", chunks });

/** A job that is queued by another job. */
export function jobOf(customId: string, input: EmbedChunksInput | IndexInput | OcrInput): NewJob {
  const inputSha256 = hash("sha256", JSON.stringify(input));
  return { customId, input, inputSha256, priority: 0 };
}

/**
 * Queues jobs in the batch of the current job, and only while this run holds that job: otherwise they could land in a batch
 * that has ended. Jobs that an earlier attempt queued are there already and stay.
 * @throws RunAborted when the run has lost its job
 */
export async function queueInBatch(
  { batchId, runId }: ClaimedJob,
  database: Database,
  jobs: readonly NewJob[],
): Promise<void> {
  await database.transaction(async (db) => {
    await insertJobs(db, batchId, jobs);
    if (!(await lockJob(db, runId))) throw new RunAborted("lease_lost");
    await notifyJobs(db);
  });
}

type Stores = Pick<WorkerResources, "config" | "database">;
type IndexState = Awaited<ReturnType<typeof reconcileVectorIndex>>;

/** The batch of a job, and for a rebuild the time before which vectors are outdated, see `EmbedScope`. */
type EmbedWork = {
  readonly batchId: string;
  readonly redoBefore: string | null;
  /** Whether the embedder is the configured one, whose vectors search uses. */
  readonly isConfigured: boolean;
};

/**
 * After the last vectors of a batch are stored, builds their index and switches search to them. Two jobs that end together
 * may both see all vectors; the second finds both steps done.
 */
export async function indexWhenLast(
  { batchId, redoBefore, isConfigured }: EmbedWork,
  embedder: Embedder,
  stores: Stores,
): Promise<IndexState> {
  const { database } = stores;
  if (await areEmbedJobsWaiting(database, batchId)) return "none";
  const space = spaceOf(embedder);
  const { current, due } = await measureEmbeddings(database, space, { range: null, redoBefore });
  if (due > 0) return "none";
  const made = await reconcileIndexOf(embedder, current, stores);
  if (!isConfigured) return made;
  const settings = questionSettingsOf(stores.config);
  const { model, signature } = space;
  const isSwitched = await switchSearchedVectors(database, { model, signature, settings });
  // The index of the vectors that search used before is useless now.
  if (isSwitched) await reconcileIndexOf(embedder, current, stores);
  return made;
}

/**
 * Builds the index of vectors or drops it, as the configuration requires.
 * @param current how many vectors of the embedder are stored
 */
const reconcileIndexOf = (
  embedder: Embedder,
  current: number,
  { config, database }: Stores,
): Promise<IndexState> =>
  reconcileVectorIndex(database, {
    embedder,
    current,
    exactBelow: config.retrieve.exact_below,
    engine: engineOf(config),
  });

/**
 * Drops the index of vectors that are all about to be stored again: storing them under the index costs more than building it
 * afterwards. Until then each search compares all vectors. While another process builds an index, it stays.
 */
export async function dropIndexOf(
  { signature }: Embedder,
  { config, database }: Stores,
): Promise<void> {
  if (engineOf(config) === "embedded") await dropVectorIndex(database, signature, "at once");
  else await asOnlyBuilder(database, () => dropVectorIndex(database, signature, "concurrently"));
}

const engineOf = ({ database }: Stores["config"]): "embedded" | "server" =>
  database.url === "embedded" ? "embedded" : "server";
