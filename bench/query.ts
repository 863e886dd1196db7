// Latency of the three modes of search over the synthetic corpus (2,000 files are 14,000 chunks, 14,200 are 100,000,
// 142,000 a million), and of bare pgvector queries, exact and by HNSW, over the same vectors in the same run; with sizes of the
// tables and indices, and the memory of this process. A million takes hours: keep it, and measure it again.
// node --import ./bench/register.js bench/query.ts [files, default 2000] [--keep | --database=url of a kept one]
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../src/shared/store/connection/database.ts";
import type { Database } from "../src/shared/store/connection/database.ts";
import {
  findVectorIndex,
  indexedVector,
  selectVectorSchema,
} from "../src/shared/store/index/vector-index.ts";
import { createHashingEmbedder } from "../src/worker/embedders/hashing.ts";
import { reconcileVectorIndex } from "../src/worker/index/embed-chunks.ts";
import { vectorsOf } from "../src/worker/search/choose-vectors.ts";
import { createSearch } from "../src/worker/search/search.ts";
import type { SearchRequest } from "../src/worker/search/search.ts";
import { embedAll } from "./embed-all.ts";
import { createFreshDatabase } from "./fresh-database.ts";
import { indexFolder } from "./index-folder.ts";
import { DEFAULT_SEARCH } from "./search-settings.ts";
import { seededRandom, writeSyntheticCorpus } from "./synthetic-corpus.ts";

const QUERIES = 200;
const WARM_UP = 20;
const EXACT_BELOW = 20_000;
const args = process.argv.slice(2);
const files = Number(args.find((arg) => /^\d+$/.test(arg)) ?? 2_000);
const keptUrl = args.find((arg) => arg.startsWith("--database="))?.slice("--database=".length);
const signal = new AbortController().signal;
const embedder = createHashingEmbedder();
const { db, close } = keptUrl === undefined ? await build() : open(keptUrl);

try {
  const queries = await drawQueries();
  // The floor is for `ask`; `query` has none.
  const search = createSearch({
    db,
    vectors: vectorsOf(embedder),
    settings: { ...DEFAULT_SEARCH, floor: 0 },
  });
  const bySearch = (more: Partial<SearchRequest>) => (text: string) =>
    search({ text, mode: "hybrid", limit: 10, ...more }, signal);
  const plain = createSearch({
    db,
    vectors: vectorsOf(embedder),
    settings: { ...DEFAULT_SEARCH, feedback: "off" },
  });
  const bare = (from: string, distance: string) => async (text: string) => {
    const [vector] = await embedder.embed([text], signal);
    return db.query(
      `select chunk_id from ${from} order by ${distance} $1::vector(${embedder.dims}) limit 10`,
      [`[${Array.from(vector ?? []).join(",")}]`],
    );
  };
  const hasOwnIndex = (await findVectorIndex(db, embedder.signature)) !== undefined;
  const bareHnsw = hasOwnIndex
    ? bare(
        `nightdesk_data.embeddings where signature = '${embedder.signature}'`,
        `${indexedVector({ dims: embedder.dims, precision: "full" }, await selectVectorSchema(db))} <#>`,
      )
    : bare("public.bare_hnsw", "embedding <#>");
  await measure(
    {
      "baseline, bare exact scan": bare("public.bare", "embedding <=>"),
      "baseline, bare HNSW": bareHnsw,
      "lexical, no feedback": (text) => plain({ text, mode: "lexical", limit: 10 }, signal),
      lexical: bySearch({ mode: "lexical" }),
      vector: bySearch({ mode: "vector" }),
      hybrid: bySearch({}),
      "hybrid, one folder": bySearch({ pathPrefix: "corpus/part-1/" }),
      "hybrid, a tag that none has": bySearch({ where: [{ key: "tag", value: "ops" }] }),
    },
    queries,
  );
  await printSizes();
} finally {
  await close();
}

type Measured = Readonly<Record<string, (text: string) => Promise<unknown>>>;

/** One query after the other of each kind in turn, so that what else the machine does is in all alike. */
async function measure(runs: Measured, queries: readonly string[]): Promise<void> {
  const times = new Map(Object.keys(runs).map((name) => [name, [] as number[]]));
  for (const [index, text] of queries.entries()) {
    for (const [name, run] of Object.entries(runs)) {
      const startedAt = performance.now();
      await run(text);
      if (index >= WARM_UP) times.get(name)?.push(performance.now() - startedAt);
    }
  }
  const exact = at(times.get("baseline, bare exact scan") ?? [], 0.5);
  for (const [name, taken] of times) {
    const p50 = at(taken, 0.5);
    console.log(
      `${name.padEnd(28)} p50 ${p50.toFixed(1).padStart(6)} ms  p99 ${at(taken, 0.99).toFixed(1).padStart(6)} ms  ` +
        `p50 is ${(p50 / exact).toFixed(2)} of a bare exact scan`,
    );
  }
}

/** Of the tables with their indices, in MiB, and of this process at the end. */
async function printSizes(): Promise<void> {
  const { rows } = (await db.query(
    `select relname as name, round(pg_total_relation_size(oid) / 1048576.0)::int as size
       from pg_class where relkind = 'r' and relnamespace = 'nightdesk_data'::regnamespace
        and relname in ('documents', 'chunks', 'postings', 'embeddings') order by relname`,
  )) as unknown as { rows: { name: string; size: number }[] };
  const sizes = rows.map(({ name, size }) => `${name} ${size} MiB`).join(", ");
  const memory = Math.round(process.memoryUsage().rss / 1_048_576);
  console.log(`${sizes}; this process ${memory} MiB; load ${loadavg()[0]?.toFixed(1) ?? "?"}`);
}

function at(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.floor(share * sorted.length)] ?? Number.NaN;
}

async function build(): Promise<{ db: Database; close: () => Promise<void> }> {
  const workroot = mkdtempSync(join(tmpdir(), "nightdesk-bench-"));
  const fresh = await createFreshDatabase();
  writeSyntheticCorpus(join(workroot, "corpus"), files);
  const { chunks_total } = await indexFolder(fresh.db, workroot, false);
  const startedAt = performance.now();
  await embedAll(fresh.db, embedder);
  const rate = Math.round((chunks_total / (performance.now() - startedAt)) * 1_000);
  console.log(`${chunks_total} chunks, embedded at ${rate} a second`);
  rmSync(workroot, { recursive: true });
  await prepare(fresh.db, chunks_total);
  const isKept = args.includes("--keep");
  if (isKept) console.log(`kept: --database=${fresh.url}`);
  return { db: fresh.db, close: isKept ? () => fresh.db.end() : fresh.drop };
}

async function prepare(database: Database, chunks: number): Promise<void> {
  const vectors = {
    embedder,
    current: chunks,
    exactBelow: EXACT_BELOW,
    engine: "server",
  } as const;
  const state = await reconcileVectorIndex(database, vectors);
  console.log(`vector index of the search: ${state}`);
  // The search's own index serves the bare query as well; two of them take minutes at 100,000 chunks.
  for (const table of state === "none" ? ["bare", "bare_hnsw"] : ["bare"]) {
    await database.query(
      `create table public.${table} as
       select chunk_id, embedding::vector(${embedder.dims}) as embedding from nightdesk_data.embeddings`,
    );
  }
  if (state === "none") {
    await database.query("create index on public.bare_hnsw using hnsw (embedding vector_ip_ops)");
  }
  await database.query("vacuum analyze");
}

function open(url: string): { db: Database; close: () => Promise<void> } {
  const database = openDatabase({
    target: { kind: "url", url },
    maxConnections: 4,
    statements: "query",
    onError: (error) => {
      console.error(error);
    },
  });
  return { db: database, close: () => database.end() };
}

/** 4 to 8 words of the headings of sections, stop words left out, so that common words come as often as they do. */
async function drawQueries(): Promise<string[]> {
  const random = seededRandom(11);
  const { rows } = (await db.query(
    `select heading_path from nightdesk.chunks where heading_path is not null order by path, ordinal`,
  )) as unknown as { rows: { heading_path: string }[] };
  const stopped = await stopWords(rows.map(({ heading_path }) => heading_path));
  return Array.from({ length: QUERIES }, () => {
    const words: string[] = [];
    while (words.length < 8) {
      const title = rows[Math.floor(random() * rows.length)]?.heading_path ?? "";
      words.push(...(title.match(/[a-z]{3,}/g) ?? []).filter((word) => !stopped.has(word)));
    }
    return words.slice(0, 4 + Math.floor(random() * 5)).join(" ");
  });
}

async function stopWords(titles: readonly string[]): Promise<ReadonlySet<string>> {
  const words = new Set(titles.flatMap((title) => title.match(/[a-z]{3,}/g) ?? []));
  const { rows } = (await db.query(
    "select word from unnest($1::text[]) as word where to_tsvector('english', word) = ''::tsvector",
    [[...words]],
  )) as unknown as { rows: { word: string }[] };
  return new Set(rows.map(({ word }) => word));
}
