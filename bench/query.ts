// Latency of the three modes of search over the synthetic corpus (2,000 files are 14,000 chunks), and of a bare
// pgvector scan of the same vectors in the same run.
// node --import ./bench/register.js bench/query.ts [files, default 2000]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHashingEmbedder } from "../src/worker/embedder/hashing.ts";
import { createSearch } from "../src/worker/retrieval/search.ts";
import { embedAll } from "./embed-all.ts";
import { createFreshDatabase } from "./fresh-database.ts";
import { indexFolder } from "./index-folder.ts";
import { DEFAULT_SEARCH } from "./search-settings.ts";
import { seededRandom, writeSyntheticCorpus } from "./synthetic-corpus.ts";

const QUERIES = 200;
const signal = new AbortController().signal;
const workroot = mkdtempSync(join(tmpdir(), "nightdesk-bench-"));
const { db, drop } = await createFreshDatabase();
const embedder = createHashingEmbedder();

const measure = async (name: string, run: (text: string) => Promise<unknown>) => {
  for (const text of queries.slice(0, 20)) await run(text);
  const times: number[] = [];
  for (const text of queries) {
    const startedAt = performance.now();
    await run(text);
    times.push(performance.now() - startedAt);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.floor(share * times.length)] ?? 0).toFixed(1);
  console.log(`${name.padEnd(28)} p50 ${at(0.5)} ms  p99 ${at(0.99)} ms`);
};

writeSyntheticCorpus(join(workroot, "corpus"), Number(process.argv[2] ?? 2_000));
const { chunks_total } = await indexFolder(db, workroot, false);
const startedAt = performance.now();
await embedAll(db, embedder);
const rate = Math.round((chunks_total / (performance.now() - startedAt)) * 1_000);
await db.query("vacuum analyze");
const queries = await drawQueries();
console.log(`${chunks_total} chunks, embedded at ${rate} a second`);

try {
  const search = createSearch({ db, embedder, settings: DEFAULT_SEARCH });
  for (const mode of ["lexical", "vector", "hybrid"] as const) {
    await measure(mode, (text) => search({ text, mode, limit: 10 }, signal));
  }
  await measure("hybrid, one folder", (text) =>
    search({ text, mode: "hybrid", limit: 10, pathPrefix: "corpus/part-1/" }, signal),
  );
  await db.query(
    "create table public.bare as select chunk_id, embedding from nightdesk_data.embeddings",
  );
  await db.query("vacuum analyze public.bare");
  await measure("baseline, bare exact scan", async (text) => {
    const [vector] = await embedder.embed([text], signal);
    const values = [`[${Array.from(vector ?? []).join(",")}]`];
    return db.query("select chunk_id from public.bare order by embedding <=> $1 limit 10", values);
  });
} finally {
  await drop();
  rmSync(workroot, { recursive: true });
}

/** 4 to 8 words of the headings of a section, so that common words come as often as they do. */
async function drawQueries(): Promise<string[]> {
  const random = seededRandom(11);
  const { rows } = (await db.query(
    "select heading_path from nightdesk.chunks order by path, ordinal",
  )) as unknown as { rows: { heading_path: string }[] };
  return Array.from({ length: QUERIES }, () => {
    const words: string[] = [];
    while (words.length < 8) {
      const title = rows[Math.floor(random() * rows.length)]?.heading_path ?? "";
      words.push(...(title.match(/[a-z]{3,}/g) ?? []));
    }
    return words.slice(0, 4 + Math.floor(random() * 5)).join(" ");
  });
}
