import type { Database } from "../../shared/store/connection/database.ts";
import {
  asOnlyBuilder,
  createIndexEmbedded,
  createIndexOnServer,
  dropVectorIndex,
  MOST_INDEXED_DIMS,
  selectVectorIndexes,
} from "../../shared/store/index/vector-index.ts";
import type { Embedder } from "../embedders/embedder.ts";

export type IndexedVectors = {
  readonly embedder: Pick<Embedder, "signature" | "dims">;
  /** How many vectors of the signature are stored. */
  readonly current: number;
  /** `retrieve.exact_below` */
  readonly exactBelow: number;
  /** The embedded database has one session, and builds while everybody waits. */
  readonly engine: "server" | "embedded";
};

/**
 * Gives the vectors their HNSW index when there are too many to compare each, and takes away indexes that are of no
 * use: of signatures that no vector has, of too few vectors, and what a build that was killed left behind.
 * On a server one does this at a time: two that build on one table wait for each other, and Postgres would end one of
 * them. Whoever comes second leaves it to the first.
 * @returns what was done for the embedder's own vectors
 */
export async function keepVectorIndex(
  db: Database,
  vectors: IndexedVectors,
): Promise<"created" | "kept" | "none"> {
  if (vectors.engine === "embedded") return keepAlone(db, vectors);
  return (await asOnlyBuilder(db, () => keepAlone(db, vectors))) ?? "none";
}

async function keepAlone(
  db: Database,
  vectors: IndexedVectors,
): Promise<"created" | "kept" | "none"> {
  const { embedder, engine, current, exactBelow } = vectors;
  const canHave = embedder.dims <= MOST_INDEXED_DIMS;
  // Half of the threshold keeps an index that is there: at the threshold it would come and go.
  const keepsOwn = canHave && 2 * current >= exactBelow;
  let hasOwn = false;
  for (const { signature, valid, used, building } of await selectVectorIndexes(db)) {
    const isOwn = signature === embedder.signature;
    const isKept = building || (valid && (isOwn ? keepsOwn : used));
    if (!isKept) await dropVectorIndex(db, signature, DROP[engine]);
    else if (isOwn) hasOwn = true;
  }
  if (hasOwn) return "kept";
  if (!canHave || current < exactBelow) return "none";
  const create = engine === "server" ? createIndexOnServer : createIndexEmbedded;
  await create(db, embedder);
  return "created";
}

const DROP = { server: "concurrently", embedded: "at once" } as const;
