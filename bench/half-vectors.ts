// Vectors of full precision beside the same in half, on a judged collection and in the same run: room of the stored vectors and of
// their index, time to round them and to build it, p50 of a search, and how many of the ten nearest of an exact scan in full
// precision each finds. With --dims the vectors of `hashing` are turned into so many dimensions by a random matrix, always the same.
// node --import ./bench/register.js bench/half-vectors.ts [folder] [--dims=768]
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Database } from "../src/shared/store/connection/database.ts";
import { searchVectors } from "../src/shared/store/index/search-vectors.ts";
import type { Embedder } from "../src/worker/embedders/embedder.ts";
import { digestOf, normalize, precisionOf } from "../src/worker/embedders/embedder.ts";
import { createHashingEmbedder } from "../src/worker/embedders/hashing.ts";
import { shapeEmbedder } from "../src/worker/embedders/shape-vectors.ts";
import { reconcileVectorIndex } from "../src/worker/index/embed-chunks.ts";
import { embedAll } from "./embed-all.ts";
import { createFreshDatabase } from "./fresh-database.ts";
import { indexFolder } from "./index-folder.ts";
import { readCollection, writeDocuments } from "./judged-collection.ts";

const NEAREST = 10;
const args = process.argv.slice(2);
const folder = args.find((arg) => !arg.startsWith("--")) ?? "../shared/data/retrieval/cacm";
const UNSHAPED = { model_id: "hashing", query_prefix: "", passage_prefix: "", dimensions: null };
const dims = args.find((arg) => arg.startsWith("--dims="))?.slice("--dims=".length);
const whole = dims === undefined ? createHashingEmbedder() : createTurned(Number(dims));

const workroot = mkdtempSync(join(tmpdir(), "nightdesk-bench-"));
const { db, drop } = await createFreshDatabase();
try {
  const collection = readCollection(folder);
  writeDocuments(collection, join(workroot, "corpus"));
  const { chunks_total: chunks } = await indexFolder(db, workroot, false);
  const questions = await whole.embed(
    collection.queries.map(({ text }) => text),
    new AbortController().signal,
  );
  console.log(
    `${basename(folder)}: ${chunks} chunks, ${questions.length} questions, ${whole.dims} dimensions`,
  );
  let best: readonly (readonly string[])[] | undefined;
  for (const precision of ["full", "half"] as const) {
    const embedder = shapeEmbedder(whole, { ...UNSHAPED, precision });
    const stored = await timed(() => embedAll(db, embedder));
    const bytes = await keepOnly(db, embedder);
    const exact = await nearestOf(embedder, questions);
    best ??= exact.keys;
    const vectors = { embedder, current: chunks, exactBelow: 1, engine: "server" } as const;
    const built = await timed(() => reconcileVectorIndex(db, vectors));
    const found = await nearestOf(embedder, questions);
    console.log(
      `${precision}: vectors ${bytes.toFixed(1)} MiB, stored in ${stored.toFixed(1)} s; exact scan recall@${NEAREST} ` +
        `${recall(best, exact.keys).toFixed(4)}, p50 ${exact.p50.toFixed(1)} ms; index ` +
        `${(await sizeOfIndex(db, embedder)).toFixed(1)} MiB, built in ${built.toFixed(1)} s; recall@${NEAREST} ` +
        `${recall(best, found.keys).toFixed(4)}, p50 ${found.p50.toFixed(1)} ms; load ${loadavg()[0]?.toFixed(1) ?? "?"}`,
    );
  }
} finally {
  await drop();
  rmSync(workroot, { recursive: true });
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return (performance.now() - startedAt) / 1_000;
}

async function nearestOf(
  embedder: Embedder,
  questions: readonly Float32Array[],
): Promise<{ readonly keys: readonly (readonly string[])[]; readonly p50: number }> {
  const keys: (readonly string[])[] = [];
  const times: number[] = [];
  const { signature } = embedder;
  for (const vector of questions) {
    const startedAt = performance.now();
    const filter = { pathPrefix: undefined, source: undefined, limit: NEAREST };
    const question = { signature, precision: precisionOf(embedder), vector };
    const hits = await searchVectors(db, question, filter);
    times.push(performance.now() - startedAt);
    keys.push(hits.map(({ chunkKey }) => chunkKey));
  }
  const p50 = times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? NaN;
  return { keys, p50 };
}

function recall(exact: readonly (readonly string[])[], found: typeof exact): number {
  const wanted = exact.flat().length;
  const hits = exact.flatMap((keys, at) => keys.filter((key) => found[at]?.includes(key)));
  return hits.length / wanted;
}

/** Leaves the vectors of one signature, as a switch does. @returns what the table takes with its primary key, in MiB */
async function keepOnly(database: Database, { signature }: Embedder): Promise<number> {
  await database.query("delete from nightdesk_data.embeddings where signature <> $1", [signature]);
  await database.query("vacuum full analyze nightdesk_data.embeddings");
  const { rows } = await database.query(
    "select (pg_table_size(oid) + pg_relation_size('nightdesk_data.embeddings_pkey')) / 1048576.0 as mib from pg_class where oid = 'nightdesk_data.embeddings'::regclass",
  );
  return Number((rows[0] as { mib: string }).mib);
}

async function sizeOfIndex(database: Database, { signature }: Embedder): Promise<number> {
  const { rows } = await database.query(
    `select pg_relation_size('nightdesk_data.embeddings_hnsw_${signature}') / 1048576.0 as mib`,
  );
  return Number((rows[0] as { mib: string }).mib);
}

/** Angles stay about the same, and a vector is as dense as a model's. */
function createTurned(width: number): Embedder {
  const hashing = createHashingEmbedder();
  let state = 1;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
  const rows = Array.from({ length: hashing.dims }, () =>
    Float32Array.from({ length: width }, next),
  );
  return {
    ...hashing,
    dims: width,
    signature: digestOf({ width, of: hashing.signature }).slice(0, 32),
    async embed(texts, signal) {
      const vectors = await hashing.embed(texts, signal);
      return vectors.map((vector) => {
        const turned = new Float32Array(width);
        for (const [at, value] of vector.entries()) {
          if (value !== 0)
            rows[at]?.forEach((weight, to) => (turned[to] = (turned[to] ?? 0) + value * weight));
        }
        return normalize(turned);
      });
    },
  };
}
