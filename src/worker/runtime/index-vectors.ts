import { areEmbedJobsWaiting, measureEmbeddings } from "../../shared/store/index/embeddings.ts";
import { asOnlyBuilder, dropVectorIndex } from "../../shared/store/index/vector-index.ts";
import type { Embedder } from "../embedder/embedder.ts";
import { keepVectorIndex } from "../retrieval/keep-vector-index.ts";
import type { WorkerResources } from "./worker-resources.ts";

type Stores = Pick<WorkerResources, "config" | "database">;
type IndexState = Awaited<ReturnType<typeof keepVectorIndex>>;

/** The batch of a job, and since when its vectors are made anew: of a rebuild, see `EmbedScope`. */
type EmbedWork = { readonly batchId: string; readonly redoBefore: string | null };

/**
 * Whoever stores the last vectors of a batch sees all of them, and gives them their index. Two that end together may
 * both see them; the second finds the index there.
 */
export async function indexWhenLast(
  { batchId, redoBefore }: EmbedWork,
  embedder: Embedder,
  stores: Stores,
): Promise<IndexState> {
  const { database } = stores;
  if (await areEmbedJobsWaiting(database, batchId)) return "none";
  const space = { model: embedder.id, signature: embedder.signature };
  const { current, due } = await measureEmbeddings(database, space, { range: null, redoBefore });
  return due > 0 ? "none" : keepIndexOf(embedder, current, stores);
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
    engine: engineOf(config),
  });

/**
 * Takes the index of vectors away that are all about to be stored anew: behind it that costs more than to build it when
 * they are there. Until then each search compares all of them. Stays while somebody is building.
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
