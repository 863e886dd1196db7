import { Failure } from "../../shared/failure.ts";
import type { Database, Queryable } from "../../shared/store/connection/database.ts";
import {
  loadChunksToEmbed,
  measureEmbeddings,
  roundEmbeddings,
  selectNow,
  storeEmbeddings,
} from "../../shared/store/index/embeddings.ts";
import type {
  ChunkRange,
  ChunkToEmbed,
  EmbedScope,
  StoredSpace,
} from "../../shared/store/index/embeddings.ts";
import {
  asOnlyBuilder,
  createIndexEmbedded,
  createIndexOnServer,
  dropVectorIndex,
  MOST_INDEXED_DIMS,
  selectVectorIndexes,
} from "../../shared/store/index/vector-index.ts";
import { passageFor, precisionOf, spaceOf } from "../embedders/embedder.ts";
import type { VectorPrecision } from "../../shared/store/index/vector-index.ts";
import type { Embedder } from "../embedders/embedder.ts";

type EmbedDeps = { readonly db: Queryable; readonly embedder: Embedder };

export type EmbedOptions = {
  /** Embeds all chunks again, even those with current vectors. */
  readonly rebuild: boolean;
  /** With `rebuild`: vectors made since this time of the database's clock belong to this rebuild, and stay. Now by default. */
  readonly redoBefore?: string | undefined;
  /** Only counts, and embeds nothing. */
  readonly dryRun: boolean;
  /** Embeds only chunks with an id in this range; the others keep their vectors. */
  readonly range?: ChunkRange | undefined;
  /** Embeds at most this many chunks; the others keep their vectors. */
  readonly limit?: number | undefined;
  readonly batchSize: number;
  readonly signal: AbortSignal;
  /** Called after every batch has been committed. */
  readonly onProgress: (embedded: number, due: number) => void;
};

/**
 * `outdated` and `missing` count the chunks that are left, within the range if there is one. A foreign key removes vectors with
 * their chunks: there are no orphans to prune, whatever the limit.
 */
export type EmbedSummary = {
  readonly model: string;
  readonly signature: string;
  readonly dims: number;
  readonly precision: VectorPrecision;
  readonly chunks_total: number;
  /** Vectors that this run stored. */
  readonly embedded: number;
  /** Those of `embedded` that were rounded from vectors stored in full precision, without a call of the model. */
  readonly rounded: number;
  /** Vectors that were current before, and were not touched. */
  readonly skipped: number;
  readonly outdated: number;
  readonly missing: number;
  /** Chunks longer than the model's window: their vectors cover the beginning that fits. */
  readonly cut: number;
  /** Only in a dry run: how many vectors would be made. */
  readonly due?: number;
};

/**
 * Embeds, batch by batch, every chunk whose vector is missing or outdated. A run that is interrupted keeps its committed
 * batches, and the next run continues from there. Vectors of other signatures stay, for searches that still use them.
 */
export async function embedChunks(deps: EmbedDeps, options: EmbedOptions): Promise<EmbedSummary> {
  const { db, embedder } = deps;
  const space = spaceOf(embedder);
  const scope: EmbedScope = {
    range: options.range ?? null,
    redoBefore: options.rebuild ? (options.redoBefore ?? (await selectNow(db))) : null,
  };
  const before = await measureEmbeddings(db, space, scope);
  const due = Math.min(before.due, options.limit ?? before.due);
  const done = options.dryRun
    ? NOTHING_DONE
    : await embedDue(deps, space, { ...options, scope, due });
  const after = await measureEmbeddings(db, space, scope);
  return {
    ...space,
    dims: embedder.dims,
    chunks_total: after.chunks,
    skipped: before.chunks - before.due,
    outdated: after.outdated,
    missing: after.missing,
    ...done,
    ...(options.dryRun ? { due } : {}),
  };
}

type Done = { readonly embedded: number; readonly rounded: number; readonly cut: number };
const NOTHING_DONE: Done = { embedded: 0, rounded: 0, cut: 0 };
type DueOptions = EmbedOptions & { readonly scope: EmbedScope; readonly due: number };

async function embedDue(
  { db, embedder }: EmbedDeps,
  space: StoredSpace,
  options: DueOptions,
): Promise<Done> {
  const { scope, due, batchSize, signal, onProgress } = options;
  let done = await roundDue({ db, embedder }, space, options);
  let afterChunkId = String(scope.range?.after ?? 0);
  while (done.embedded < due) {
    signal.throwIfAborted();
    const limit = Math.min(batchSize, due - done.embedded);
    const chunks = await loadChunksToEmbed(db, space, { ...scope, afterChunkId, limit });
    const last = chunks.at(-1);
    if (last === undefined) break;
    const { vectors, cut } = await embedBatch(embedder, chunks, signal);
    const stored = await storeEmbeddings(db, space, vectors);
    done = { ...done, embedded: done.embedded + stored, cut: done.cut + cut };
    afterChunkId = last.chunkId;
    onProgress(done.embedded, due);
  }
  return done;
}

/** Vectors a statement: about a megabyte, and less than a tenth of a second. */
const ROUNDED_TOGETHER = 1_000;

/** Rounds vectors that are stored in full precision to half precision, without the model. A rebuild calls the model anyway. */
async function roundDue(
  { db, embedder: { roundedFrom } }: EmbedDeps,
  space: StoredSpace,
  { scope, due, signal, onProgress }: DueOptions,
): Promise<Done> {
  let embedded = 0;
  if (roundedFrom === undefined || scope.redoBefore !== null) return NOTHING_DONE;
  let afterChunkId = String(scope.range?.after ?? 0);
  while (embedded < due) {
    signal.throwIfAborted();
    const limit = Math.min(ROUNDED_TOGETHER, due - embedded);
    const batch = { range: scope.range, afterChunkId, limit };
    const { last, rounded } = await roundEmbeddings(db, { ...space, roundedFrom }, batch);
    if (last === null) break;
    embedded += rounded;
    afterChunkId = last;
    onProgress(embedded, due);
  }
  return { ...NOTHING_DONE, embedded, rounded: embedded };
}

type EmbeddedBatch = {
  readonly vectors: { readonly chunkId: string; readonly vector: Float32Array }[];
  readonly cut: number;
};

async function embedBatch(
  embedder: Embedder,
  chunks: readonly ChunkToEmbed[],
  signal: AbortSignal,
): Promise<EmbeddedBatch> {
  let cut = 0;
  const texts = chunks.map((chunk) => passageFor(embedder, chunk));
  const made = await embedder.embed(texts, signal, () => {
    cut += 1;
  });
  const vectors = chunks.map(({ chunkId }, index) => {
    const vector = made[index];
    if (vector?.length === embedder.dims) return { chunkId, vector };
    throw new Failure(
      "MODEL_OUTPUT_INVALID",
      `The embedder "${embedder.id}" gave ${made.length} vectors for ${chunks.length} texts, ` +
        `or one that has not ${embedder.dims} dimensions.`,
    );
  });
  return { vectors, cut };
}

type IndexedVectors = {
  readonly embedder: Pick<Embedder, "signature" | "dims" | "roundedFrom">;
  /** How many vectors of the signature are stored. */
  readonly current: number;
  /** `retrieve.exact_below` */
  readonly exactBelow: number;
  /** The embedded database has one session, so that everything waits while it builds an index. */
  readonly engine: "server" | "embedded";
};

/**
 * Creates the HNSW index of the vectors when there are too many to compare each one, and drops useless indexes: for signatures
 * that no vector has, for too few vectors, and leftovers of a build that was killed. On a server only one process does this at
 * a time, and a second one returns: two builds on one table wait for each other, and Postgres would end one of them.
 * @returns what was done for the embedder's own vectors
 */
export async function reconcileVectorIndex(
  db: Database,
  vectors: IndexedVectors,
): Promise<"created" | "kept" | "none"> {
  if (vectors.engine === "embedded") return reconcileAlone(db, vectors);
  return (await asOnlyBuilder(db, () => reconcileAlone(db, vectors))) ?? "none";
}

async function reconcileAlone(
  db: Database,
  vectors: IndexedVectors,
): Promise<"created" | "kept" | "none"> {
  const { embedder, engine, current, exactBelow } = vectors;
  const precision = precisionOf(embedder);
  const canHave = embedder.dims <= MOST_INDEXED_DIMS[precision];
  // An existing index stays down to half of the threshold; else it would be dropped and created again around it.
  const keepsOwn = canHave && 2 * current >= exactBelow;
  let hasOwn = false;
  for (const index of await selectVectorIndexes(db)) {
    const isOwn = index.signature === embedder.signature;
    const isWanted = isOwn ? keepsOwn : index.used;
    const isKept = index.building || (index.valid && isWanted);
    if (!isKept) await dropVectorIndex(db, index.signature, DROP[engine]);
    else if (isOwn) hasOwn = true;
  }
  if (hasOwn) return "kept";
  if (!canHave || current < exactBelow) return "none";
  const create = engine === "server" ? createIndexOnServer : createIndexEmbedded;
  await create(db, { signature: embedder.signature, dims: embedder.dims, precision });
  return "created";
}

const DROP = { server: "concurrently", embedded: "at once" } as const;
