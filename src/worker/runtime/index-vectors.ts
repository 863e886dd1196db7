import { areEmbedJobsWaiting } from "../../shared/db/index/embed-jobs.ts";
import { measureEmbeddings } from "../../shared/db/index/embeddings.ts";
import type { Embedder } from "../embedder/embedder.ts";
import { keepVectorIndex } from "../retrieval/keep-vector-index.ts";
import type { WorkerResources } from "./worker-resources.ts";

type Stores = Pick<WorkerResources, "config" | "database">;
type IndexState = Awaited<ReturnType<typeof keepVectorIndex>>;

/**
 * Whoever stores the last vectors of a batch sees all of them, and gives them their index. Two that end together may
 * both see them; the second finds the index there.
 */
export async function indexWhenLast(
  batchId: string,
  embedder: Embedder,
  stores: Stores,
): Promise<IndexState> {
  const { database } = stores;
  if (await areEmbedJobsWaiting(database, batchId)) return "none";
  const space = { model: embedder.id, signature: embedder.signature };
  const { current, missing, outdated } = await measureEmbeddings(database, space);
  return missing + outdated > 0 ? "none" : keepIndexOf(embedder, current, stores);
}

/**
 * Gives the vectors their index, or takes it away, as the configuration says.
 * @param current how many vectors of the embedder are stored
 */
export const keepIndexOf = (
  embedder: Embedder,
  current: number,
  { config, database }: Stores,
): Promise<IndexState> =>
  keepVectorIndex(database, {
    embedder,
    current,
    exactBelow: config.retrieve.exact_below,
    engine: config.database.url === "embedded" ? "embedded" : "server",
  });
