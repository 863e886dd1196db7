import { reportProgress } from "../../shared/db/jobs/claim-job.ts";
import { storeJobVectors } from "../../shared/db/jobs/job-vectors.ts";
import type { EmbedChunksInput, EmbedTextInput } from "../../shared/job.ts";
import type { Answer } from "../../shared/run-result.ts";
import { embedChunks } from "../retrieval/embed-chunks.ts";
import type { JobCall } from "./run-index.ts";
import { throttle } from "./throttle.ts";
import type { WorkerResources } from "./worker-resources.ts";

/** Vectors for chunks of the index that miss one or hold an outdated one. */
export async function runEmbedChunks(
  { job, input, trace, signal }: JobCall<EmbedChunksInput>,
  { config, database, embedderOf }: WorkerResources,
): Promise<Answer> {
  const { chunks } = input;
  const report = throttle((progress: Readonly<Record<string, unknown>>) =>
    reportProgress(database, job.runId, progress),
  );
  const summary = await trace.step("embed", async () =>
    embedChunks(
      { db: database, embedder: await embedderOf(chunks.model) },
      {
        rebuild: chunks.rebuild === true,
        dryRun: chunks.dry_run === true,
        batchSize: chunks.batch_size ?? config.embed.batch_size,
        ...(chunks.limit === undefined ? {} : { limit: chunks.limit }),
        signal,
        onProgress: (done, total) => {
          report({ phase: "embed", unit: "vectors", done, total });
        },
      },
    ),
  );
  return succeeded({ ...summary });
}

/** Vectors of free text: kept with the job, never joined to the index. */
export async function runEmbedText(
  { job, input, trace, signal }: JobCall<EmbedTextInput>,
  resources: WorkerResources,
): Promise<Answer> {
  const embedder = await resources.embedder();
  const texts = typeof input.text === "string" ? [input.text] : input.text;
  const vectors = await trace.step("embed", () => embedder.embed(texts, signal));
  trace.models({ first: embedder.id, second: null });
  await storeJobVectors(resources.database, job, { model: embedder.id, vectors });
  return succeeded({ texts: texts.length, dims: embedder.dims, model: embedder.id });
}

const succeeded = (summary: Readonly<Record<string, unknown>>): Answer => ({
  kind: "succeeded",
  answer: null,
  scope: null,
  citations: [],
  summary,
});
