import type { Database } from "../src/shared/store/connection/database.ts";
import type { Embedder } from "../src/worker/embedders/embedder.ts";
import { embedChunks } from "../src/worker/index/embed-chunks.ts";
import type { EmbedSummary } from "../src/worker/index/embed-chunks.ts";

/** Embeds every chunk of the index. */
export const embedAll = (db: Database, embedder: Embedder): Promise<EmbedSummary> =>
  embedChunks(
    { db, embedder },
    {
      rebuild: false,
      dryRun: false,
      batchSize: 500,
      signal: new AbortController().signal,
      onProgress: () => undefined,
    },
  );
