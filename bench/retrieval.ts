// Ranking quality on a judged collection (docs.jsonl, queries.jsonl, qrels.tsv), beside Postgres's own ranking.
// node --import ./bench/register.js bench/retrieval.ts [folder] [--cli]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHashingEmbedder } from "../src/worker/embedder/hashing.ts";
import { createSearch, type SearchRequest } from "../src/worker/retrieval/search.ts";
import { embedAll } from "./embed-all.ts";
import { createFreshDatabase } from "./fresh-database.ts";
import { indexFolder } from "./index-folder.ts";
import { judge, type Ranking } from "./judge.ts";
import { readCollection, writeDocuments } from "./judged-collection.ts";
import { rankByTsRank } from "./rank-by-ts-rank.ts";
import { queryByCommand } from "./query-by-command.ts";
import { DEFAULT_SEARCH } from "./search-settings.ts";

const DEPTH = 1_000;
const args = process.argv.slice(2);
const collection = readCollection(
  args.find((arg) => !arg.startsWith("--")) ?? "../shared/data/retrieval/cacm",
);
const workroot = mkdtempSync(join(tmpdir(), "nightdesk-bench-"));
const { db, url, drop } = await createFreshDatabase();

const print = (name: string, rankings: readonly Ranking[], ms?: number) => {
  const { map, ndcg10, recall100 } = judge(rankings, collection.relevant);
  const time = ms === undefined ? "" : `  ${(ms / rankings.length).toFixed(1)} ms a query`;
  console.log(
    `${name.padEnd(24)} MAP@${DEPTH} ${map.toFixed(4)}  nDCG@10 ${ndcg10.toFixed(4)}  ` +
      `R@100 ${recall100.toFixed(4)}${time}`,
  );
};

try {
  writeDocuments(collection, join(workroot, "corpus"));
  const summary = await indexFolder(db, workroot, false);
  await embedAll(db, createHashingEmbedder());
  console.log(`${summary.documents_total} documents, ${summary.chunks_total} chunks`);

  const startedAt = performance.now();
  print(
    "OR + ts_rank_cd",
    await rankByTsRank(db, collection.queries, DEPTH),
    performance.now() - startedAt,
  );
  const search = createSearch({ db, embedder: createHashingEmbedder(), settings: DEFAULT_SEARCH });
  for (const mode of ["lexical", "vector", "hybrid"] as const) {
    const { rankings, ms } = await rankAll(mode);
    print(mode, rankings, ms);
    if (args.includes("--cli")) {
      print(
        `${mode}, by the command`,
        queryByCommand(collection.queries, { mode, workroot, url, limit: DEPTH }),
      );
    }
  }

  async function rankAll(
    mode: SearchRequest["mode"],
  ): Promise<{ rankings: Ranking[]; ms: number }> {
    const begun = performance.now();
    const rankings: Ranking[] = [];
    for (const { id, text } of collection.queries) {
      const passages = await search({ text, mode, limit: DEPTH }, new AbortController().signal);
      rankings.push({ queryId: id, paths: passages.map(({ path }) => path) });
    }
    return { rankings, ms: performance.now() - begun };
  }
} finally {
  await drop();
  rmSync(workroot, { recursive: true });
}
