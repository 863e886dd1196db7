// Search over a synthetic corpus of a size: by words, by vectors and both, with a filter and without, beside `ts_rank_cd` over a
// GIN index of the same texts and an exact scan of the same vectors; with the memory of the searching process and the
// sizes of tables and indexes. The texts never are files: they are cut and written as documents by what indexes them.
// A million takes some minutes by words, and 10 GB. It drops its database, unless it is to be kept.
// node --import ./bench/register.js bench/chunks-at-scale.ts [chunks, default 1000000] [--vectors]
//   [--maintenance-memory=1GB, as the server has it otherwise] [--keep | --database=url of a kept one]
//   [--unmerged: the postings stay in a segment a portion, which the end of a scan merges]
import { spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { loadavg } from "node:os";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { openDatabase } from "../src/shared/store/connection/database.ts";
import type { Database } from "../src/shared/store/connection/database.ts";
import { measureEmbeddings } from "../src/shared/store/index/embeddings.ts";
import { compactPostings } from "../src/shared/store/index/compact-postings.ts";
import { countIndex } from "../src/shared/store/index/totals.ts";
import { createVocabularies } from "../src/shared/store/index/vocabulary.ts";
import type { Vocabulary } from "../src/shared/store/index/vocabulary.ts";
import { holdChunks, writeDocuments } from "../src/shared/store/index/write-documents.ts";
import type { DocumentToWrite, PortionToWrite } from "../src/shared/store/index/write-documents.ts";
import { NO_PLACES } from "../src/worker/documents/places.ts";
import { prepareDocument } from "../src/worker/documents/prepare-document.ts";
import { reconcileVectorIndex } from "../src/worker/index/embed-chunks.ts";
import { openCopyIn } from "./copy-streams.ts";
import { createFreshDatabase } from "./fresh-database.ts";
import { clusteredVector, DIMS, SYNTHETIC_SPACE, zipfDocuments } from "./zipf-corpus.ts";
import type { SyntheticDocument } from "./zipf-corpus.ts";

/** As a scan gathers them. */
const PORTION = { documents: 250, chars: 1_000_000 };
const CHUNKING = { maxChars: 1_200, overlap: 150 };
const WRITTEN_NS = 1_700_000_000_000_000_000n;
/** Chunks of which the vectors are made at once. */
const PAGE = 5_000;
const args = process.argv.slice(2);
const option = (name: string): string | undefined =>
  args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
const wanted = Number(args.find((arg) => /^\d+$/.test(arg)) ?? 1_000_000);
const maintenanceMemory = option("maintenance-memory");

const { url, close } = await findDatabase();
const db = open(
  url,
  maintenanceMemory === undefined ? {} : { maintenance_work_mem: maintenanceMemory },
);
try {
  if ((await count("nightdesk_data.chunks")) === 0) await timed("texts", fillTexts);
  if (!(await exists("public.baseline"))) await timed("baseline", makeBaseline);
  if (args.includes("--vectors")) {
    if ((await count("nightdesk_data.embeddings")) === 0) await timed("vectors", copyVectors);
    await timed("index of vectors", indexVectors);
  }
  if (!args.includes("--unmerged")) await timed("segments", mergeSegments);
  await timed("vacuum analyze", () => db.query("vacuum analyze"));
  await timed("count of the index", () => countIndex(db, ["corpus"]));
  await timed("count of vectors", () => measureEmbeddings(db, SYNTHETIC_SPACE));
  const script = fileURLToPath(new URL("search-at-scale.ts", import.meta.url));
  const { status } = spawnSync(process.execPath, [...process.execArgv, script, url], {
    stdio: "inherit",
  });
  if (status !== 0) throw new Error(`the search ended with ${status}`);
  await printSizes();
} finally {
  await db.end();
  await close();
}

async function findDatabase(): Promise<{ url: string; close: () => Promise<void> }> {
  const kept = option("database");
  if (kept !== undefined) return { url: kept, close: () => Promise.resolve() };
  const fresh = await createFreshDatabase();
  if (!args.includes("--keep")) return { url: fresh.url, close: fresh.drop };
  console.log(`kept: --database=${fresh.url}`);
  return { url: fresh.url, close: () => fresh.db.end() };
}

function open(target: string, settings: Readonly<Record<string, string>>): Database {
  return openDatabase({
    target: { kind: "url", url: target },
    maxConnections: 4,
    statements: "build",
    settings,
    onError: (error) => {
      console.error(error);
    },
  });
}

async function timed(what: string, run: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now();
  await run();
  const seconds = (performance.now() - startedAt) / 1_000;
  console.log(`${what}: ${seconds.toFixed(2)} s, load ${loadavg()[0]?.toFixed(1) ?? "?"}`);
}

async function count(table: string): Promise<number> {
  const { rows } = await db.query(`select count(*)::integer as found from ${table}`);
  return (rows[0] as { found: number }).found;
}

async function exists(table: string): Promise<boolean> {
  const { rows } = await db.query("select to_regclass($1) is not null as found", [table]);
  return (rows[0] as { found: boolean }).found;
}

async function fillTexts(): Promise<void> {
  const vocabularyOf = createVocabularies();
  const left = portions();
  let chunks = 0;
  const writer = async (): Promise<void> => {
    for (const portion of left) {
      const vocabulary = vocabularyOf("english");
      const documents = portion.map((document) => prepare(document, vocabulary));
      chunks += documents.reduce((sum, document) => sum + document.chunks.count, 0);
      await store(documents);
      if (chunks >= wanted) break;
    }
  };
  // One is written while the next is prepared. Who breaks off ends the portions for both.
  await Promise.all([writer(), writer()]);
  console.log(`${chunks} chunks`);
}

function* portions(): Generator<SyntheticDocument[]> {
  let portion: SyntheticDocument[] = [];
  let chars = 0;
  for (const document of zipfDocuments()) {
    portion.push(document);
    chars += document.text.length;
    if (portion.length < PORTION.documents && chars < PORTION.chars) continue;
    yield portion;
    portion = [];
    chars = 0;
  }
}

function store(documents: readonly DocumentToWrite[]): Promise<void> {
  const portion: PortionToWrite = {
    source: "corpus",
    chunkSettings: "synthetic",
    language: "english",
    documents: documents.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  };
  return db.transaction((client) => writeDocuments(client, portion));
}

function prepare({ path, text }: SyntheticDocument, vocabulary: Vocabulary): DocumentToWrite {
  const bytes = BigInt(Buffer.byteLength(text));
  const { chunks, ...facts } = prepareDocument(
    {
      kind: "document",
      source: "corpus",
      path,
      text,
      extractor: "utf-8",
      places: NO_PLACES,
      sha256: hash("sha256", text, "hex"),
      facts: { bytes, mtimeNs: WRITTEN_NS, ctimeNs: WRITTEN_NS, inode: 1n, device: 1n },
      settled: true,
      mail: null,
      attachments: 0,
      leftOut: {},
    },
    CHUNKING,
    vocabulary,
  );
  return { ...facts, chunks: holdChunks(chunks, vocabulary), replace: "changed" };
}

async function mergeSegments(): Promise<void> {
  const before = await count("nightdesk_data.segments");
  await compactPostings(db, new AbortController().signal);
  console.log(`${before} segments, merged to ${await count("nightdesk_data.segments")}`);
}

async function makeBaseline(): Promise<void> {
  await db.query(
    "create table public.baseline as select chunk_id, to_tsvector('english', text) as words from nightdesk_data.chunks",
  );
  await db.query("create index baseline_words on public.baseline using gin (words)");
}

async function copyVectors(): Promise<void> {
  const client = await db.pool.connect();
  try {
    const into = openCopyIn(
      client,
      "copy nightdesk_data.embeddings (chunk_id, model, signature, dims, embedding) from stdin (format binary)",
    );
    await pipeline(Readable.from(vectorRows()), into);
  } finally {
    client.release();
  }
}

/** COPY's binary format: a header, rows of fields with their lengths, and -1 for the end. */
async function* vectorRows(): AsyncGenerator<Buffer> {
  yield Buffer.concat([Buffer.from("PGCOPY\n\xff\r\n\0", "latin1"), Buffer.alloc(8)]);
  for (let after = "0"; ;) {
    const { rows } = (await db.query(
      `select c.chunk_id::text, doc_id::integer from nightdesk_data.chunks c where chunk_id > $1 order by c.chunk_id limit ${PAGE}`,
      [after],
    )) as unknown as { rows: { chunk_id: string; doc_id: number }[] };
    const last = rows.at(-1);
    if (last === undefined) break;
    yield Buffer.concat(rows.map((row) => vectorRow(Number(row.chunk_id), row.doc_id)));
    after = last.chunk_id;
  }
  yield int16(-1);
}

function vectorRow(chunkId: number, docId: number): Buffer {
  const { model, signature } = SYNTHETIC_SPACE;
  const id = Buffer.alloc(8);
  id.writeBigInt64BE(BigInt(chunkId));
  const dims = Buffer.alloc(4);
  dims.writeInt32BE(DIMS);
  const vector = Buffer.alloc(4 + 4 * DIMS);
  vector.writeInt16BE(DIMS);
  for (const [at, value] of clusteredVector(docId, chunkId).entries()) {
    vector.writeFloatBE(value, 4 + 4 * at);
  }
  const fields = [id, Buffer.from(model), Buffer.from(signature), dims, vector];
  return Buffer.concat([
    int16(fields.length),
    ...fields.flatMap((field) => [int32(field.length), field]),
  ]);
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** As an embed job does when its vectors are complete, from `retrieve.exact_below` on. */
async function indexVectors(): Promise<void> {
  const state = await reconcileVectorIndex(db, {
    embedder: { signature: SYNTHETIC_SPACE.signature, dims: DIMS },
    current: await count("nightdesk_data.embeddings"),
    exactBelow: 1,
    engine: "server",
  });
  console.log(`index of vectors: ${state}`);
}

async function printSizes(): Promise<void> {
  const chunks = await count("nightdesk_data.chunks");
  const { rows } = (await db.query(
    `select c.relname as name, pg_table_size(c.oid)::float8 as bytes
       from pg_class c left join pg_index i on i.indexrelid = c.oid
       left join pg_class t on t.oid = i.indrelid
      where coalesce(t.relname, c.relname) in ('documents', 'chunks', 'segments', 'postings', 'embeddings', 'baseline')
        and c.relkind in ('r', 'i') and c.relnamespace in ('nightdesk_data'::regnamespace, 'public'::regnamespace)
      order by coalesce(t.relname, c.relname), c.relkind desc, c.relname`,
  )) as unknown as { rows: { name: string; bytes: number }[] };
  for (const { name, bytes } of rows) {
    const size = `${(bytes / 2 ** 20).toFixed(1).padStart(9)} MiB`;
    console.log(
      `${name.padEnd(50)} ${size} ${Math.round(bytes / chunks)
        .toString()
        .padStart(6)} bytes a chunk`,
    );
  }
}
