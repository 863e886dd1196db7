import type { Config } from "../../shared/config/schema.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { findVectorIndex, MOST_INDEXED_DIMS } from "../../shared/store/index/vector-index.ts";
import type { IndexHealth } from "../../shared/store/connection/health.ts";
import type { Embedder } from "../embedder/embedder.ts";
import { warn } from "./check.ts";
import type { Check } from "./check.ts";

/** Whether so many vectors have the index that they should have, and whether it works behind a filter. */
export async function checkVectorIndex(
  { retrieve }: Config,
  database: Database,
  { signature, dims }: Embedder,
  { chunks, missing_vectors, outdated_vectors }: IndexHealth,
): Promise<readonly Check[]> {
  const isComplete = missing_vectors + outdated_vectors === 0;
  if (!isComplete || chunks < retrieve.exact_below || dims > MOST_INDEXED_DIMS) return [];
  const index = await findVectorIndex(database, signature);
  if (index === undefined) {
    return [
      warn(
        "DOCTOR_VECTOR_INDEX_MISSING",
        `${chunks} vectors have no index, and each question is compared with all of them; retrieve.exact_below is ` +
          `${retrieve.exact_below}.`,
        "Run: nightdesk embed",
      ),
    ];
  }
  if (index.iterates) return [];
  return [
    warn(
      "DOCTOR_VECTOR_INDEX_OLD",
      "This pgvector is older than 0.8: behind a filter the index would miss passages, so it is not used there.",
      "Install a newer pgvector, then: alter extension vector update",
    ),
  ];
}
