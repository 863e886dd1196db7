// What a reranker makes of the ranking of a judged collection: hybrid search without it and with it, in the same run.
// node --import ./bench/register.js bench/rerank.ts --model FOLDER [--dtype DTYPE] [--candidates N] [folder]
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { createHashingEmbedder } from "../src/worker/embedders/hashing.ts";
import { openReranker } from "../src/worker/embedders/transformers/reranker.ts";
import type { RerankerSettings } from "../src/worker/embedders/transformers/reranker.ts";
import { vectorsOf } from "../src/worker/search/choose-vectors.ts";
import type { Reranking } from "../src/worker/search/rerank.ts";
import { createSearch } from "../src/worker/search/search.ts";
import { embedAll } from "./embed-all.ts";
import { createFreshDatabase } from "./fresh-database.ts";
import { indexFolder } from "./index-folder.ts";
import { judge } from "./judge.ts";
import type { Ranking } from "./judge.ts";
import { readCollection, writeDocuments } from "./judged-collection.ts";
import { DEFAULT_SEARCH } from "./search-settings.ts";

const DEPTH = 1_000;
const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: "string" },
    dtype: { type: "string", default: "fp32" },
    candidates: { type: "string", default: "50" },
  },
});
if (flags.model === undefined) throw new Error("Give the folder of a model with --model.");
const [folder = "../shared/data/retrieval/cacm"] = positionals;
const settings: RerankerSettings = {
  model_id: basename(flags.model),
  digest: null,
  local_model_path: resolve(flags.model),
  dtype: flags.dtype as RerankerSettings["dtype"],
  candidates: Number(flags.candidates),
  ...{ timeout_s: 600, cache_dir: null, device: "cpu", recycle_texts: 20_000, recycle_mb: 4_096 },
};

const workroot = mkdtempSync(join(tmpdir(), "nightdesk-bench-"));
const { db, drop } = await createFreshDatabase();
const reranker = await openReranker(settings, { workroot });
try {
  const collection = readCollection(folder);
  writeDocuments(collection, join(workroot, "corpus"));
  const { chunks_total: chunks } = await indexFolder(db, workroot, false);
  const embedder = createHashingEmbedder();
  await embedAll(db, embedder);
  console.log(`${basename(folder)}: ${chunks} chunks, ${collection.queries.length} questions`);
  await print("hybrid", undefined);
  const { candidates } = settings;
  await print(`by ${reranker.name}, ${candidates}`, { candidates, model: async () => reranker });

  async function print(name: string, reranking: Reranking | undefined): Promise<void> {
    const search = createSearch({
      ...{ db, vectors: vectorsOf(embedder), settings: DEFAULT_SEARCH, reranking },
    });
    const rankings: Ranking[] = [];
    const startedAt = performance.now();
    for (const { id, text } of collection.queries) {
      const request = { text, mode: "hybrid", limit: DEPTH } as const;
      const passages = await search(request, new AbortController().signal);
      rankings.push({ queryId: id, paths: passages.map(({ path }) => path) });
    }
    const ms = (performance.now() - startedAt) / rankings.length;
    const { map, ndcg10, recall100 } = judge(rankings, collection.relevant);
    console.log(
      `${name.padEnd(40)} MAP@${DEPTH} ${map.toFixed(4)}  nDCG@10 ${ndcg10.toFixed(4)}  R@100 ${recall100.toFixed(4)}  ` +
        `${ms.toFixed(1)} ms a question at a load of ${loadavg()[0]?.toFixed(1) ?? "?"}`,
    );
  }
} finally {
  reranker.close();
  await drop();
  rmSync(workroot, { recursive: true });
}
