// Full beside half precision of the index over vectors, on a judged collection and in the same run: size of the index, time to
// build it, and how many of the ten nearest of an exact scan it finds, each with the time of a search. The stored vectors are whole.
// node --import ./bench/register.js bench/half-vectors.ts [folder]
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Database } from "../src/shared/store/connection/database.ts";
import { searchVectors } from "../src/shared/store/index/search-vectors.ts";
import { createHashingEmbedder } from "../src/worker/embedders/hashing.ts";
import { reconcileVectorIndex } from "../src/worker/index/embed-chunks.ts";
import { embedAll } from "./embed-all.ts";
import { createFreshDatabase } from "./fresh-database.ts";
import { indexFolder } from "./index-folder.ts";
import { readCollection, writeDocuments } from "./judged-collection.ts";

const NEAREST = 10;
const args = process.argv.slice(2);
const folder = args.find((arg) => !arg.startsWith("--")) ?? "../shared/data/retrieval/cacm";
const embedder = createHashingEmbedder();

const workroot = mkdtempSync(join(tmpdir(), "nightdesk-bench-"));
const { db, drop } = await createFreshDatabase();
try {
  const collection = readCollection(folder);
  writeDocuments(collection, join(workroot, "corpus"));
  const { chunks_total: chunks } = await indexFolder(db, workroot, false);
  await embedAll(db, embedder);
  await db.query("vacuum analyze");
  const questions = await embedder.embed(
    collection.queries.map(({ text }) => text),
    new AbortController().signal,
  );
  const exact = await nearestOf(questions);
  console.log(
    `${basename(folder)}: ${chunks} chunks, ${questions.length} questions, ${embedder.dims} dimensions; exact scan p50 ` +
      `${exact.p50.toFixed(1)} ms`,
  );
  for (const precision of ["full", "half"] as const) {
    const startedAt = performance.now();
    const vectors = {
      embedder,
      current: chunks,
      exactBelow: 1,
      engine: "server",
      precision,
    } as const;
    await reconcileVectorIndex(db, vectors);
    const seconds = (performance.now() - startedAt) / 1_000;
    const found = await nearestOf(questions);
    console.log(
      `${precision}: index ${(await sizeOfIndex(db)).toFixed(1)} MiB, built in ${seconds.toFixed(1)} s; recall@${NEAREST} ` +
        `${recall(exact.keys, found.keys).toFixed(4)}; p50 ${found.p50.toFixed(1)} ms; load ${loadavg()[0]?.toFixed(1) ?? "?"}`,
    );
  }
} finally {
  await drop();
  rmSync(workroot, { recursive: true });
}

async function nearestOf(
  questions: readonly Float32Array[],
): Promise<{ readonly keys: readonly (readonly string[])[]; readonly p50: number }> {
  const keys: (readonly string[])[] = [];
  const times: number[] = [];
  const { signature } = embedder;
  for (const vector of questions) {
    const startedAt = performance.now();
    const filter = { pathPrefix: undefined, source: undefined, limit: NEAREST };
    const hits = await searchVectors(db, { signature, vector }, filter);
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

async function sizeOfIndex(database: Database): Promise<number> {
  const { rows } = await database.query(
    `select pg_relation_size('nightdesk_data.embeddings_hnsw_${embedder.signature}') / 1048576.0 as mib`,
  );
  return Number((rows[0] as { mib: string }).mib);
}
