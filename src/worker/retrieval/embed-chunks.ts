import {
  type ChunkToEmbed,
  type EmbeddingState,
  loadChunksToEmbed,
  measureEmbeddings,
  storeEmbeddings,
  type VectorSpace,
} from "../../shared/db/index/embeddings.ts";
import type { Queryable } from "../../shared/db/database.ts";
import { Failure } from "../../shared/failure.ts";
import type { Embedder } from "../embedder/embedder.ts";
import { embeddableText } from "./searchable-text.ts";

export type EmbedDeps = { readonly db: Queryable; readonly embedder: Embedder };

export type EmbedOptions = {
  /** Embeds all chunks again, also those whose vectors are current. */
  readonly rebuild: boolean;
  /** Only counts. */
  readonly dryRun: boolean;
  /** Embeds at most this many chunks; the others keep what they have. */
  readonly limit?: number | undefined;
  readonly batchSize: number;
  readonly signal: AbortSignal;
  /** Called after every batch, which is then committed. */
  readonly onProgress: (embedded: number, due: number) => void;
};

/**
 * `outdated` and `missing` are what is left. Vectors go with their chunks by a foreign key: there are no orphans to
 * prune, whatever the limit.
 */
export type EmbedSummary = {
  readonly model: string;
  readonly signature: string;
  readonly dims: number;
  readonly chunks_total: number;
  readonly embedded: number;
  /** Were current before and are not touched. */
  readonly skipped: number;
  readonly outdated: number;
  readonly missing: number;
};

/**
 * Gives every chunk a vector of the embedder that misses one or holds an outdated one, batch by batch: what is
 * committed stays when it is interrupted, and the next run goes on from there.
 * @throws Failure EMBED_DRIFT when vectors of the same model come from another signature, unless `rebuild`
 */
export async function embedChunks(deps: EmbedDeps, options: EmbedOptions): Promise<EmbedSummary> {
  const { db, embedder } = deps;
  const space = { model: embedder.id, signature: embedder.signature };
  const before = await measureEmbeddings(db, space);
  if (!options.rebuild && !options.dryRun) checkDrift(embedder, before);
  const due = countDue(before, options);
  const embedded = options.dryRun ? 0 : await embedDue(deps, space, { ...options, due });
  const after = await measureEmbeddings(db, space);
  return {
    ...space,
    dims: embedder.dims,
    chunks_total: after.chunks,
    embedded,
    skipped: options.rebuild ? 0 : before.current,
    outdated: after.outdated,
    missing: after.missing,
  };
}

function countDue(state: EmbeddingState, { rebuild, limit }: EmbedOptions): number {
  const due = rebuild ? state.chunks : state.missing + state.outdated;
  return Math.min(due, limit ?? due);
}

function checkDrift({ id }: Embedder, { outdated }: EmbeddingState): void {
  if (outdated === 0) return;
  throw new Failure(
    "EMBED_DRIFT",
    `${outdated} vectors of "${id}" come from another build or other settings of it, and are not comparable with ` +
      "new ones. Run: nightdesk embed --rebuild",
  );
}

async function embedDue(
  { db, embedder }: EmbedDeps,
  space: VectorSpace,
  options: EmbedOptions & { readonly due: number },
): Promise<number> {
  let embedded = 0;
  let afterChunkId = "0";
  while (embedded < options.due) {
    options.signal.throwIfAborted();
    const chunks = await loadChunksToEmbed(db, space, {
      afterChunkId,
      limit: Math.min(options.batchSize, options.due - embedded),
      which: options.rebuild ? "all" : "due",
    });
    const last = chunks.at(-1);
    if (last === undefined) break;
    embedded += await storeEmbeddings(
      db,
      space,
      await embedBatch(embedder, chunks, options.signal),
    );
    afterChunkId = last.chunkId;
    options.onProgress(embedded, options.due);
  }
  return embedded;
}

async function embedBatch(
  embedder: Embedder,
  chunks: readonly ChunkToEmbed[],
  signal: AbortSignal,
): Promise<{ chunkId: string; vector: Float32Array }[]> {
  const vectors = await embedder.embed(chunks.map(embeddableText), signal);
  return chunks.map(({ chunkId }, index) => {
    const vector = vectors[index];
    if (vector?.length === embedder.dims) return { chunkId, vector };
    throw new Failure(
      "MODEL_OUTPUT_INVALID",
      `The embedder "${embedder.id}" gave ${vectors.length} vectors for ${chunks.length} texts, ` +
        `or one that has not ${embedder.dims} dimensions.`,
    );
  });
}
