// Ranking quality beside lunr, SQLite FTS5, MiniSearch and plain BM25 in one run: mean average precision of the first 1,000 on
// judged collections, and on questions of which one paragraph has the answer, where it is the mean of 1 / its rank.
// node --import ./bench/register.js bench/peers.ts [folder …] [--json]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { createHashingEmbedder } from "../src/worker/embedders/hashing.ts";
import { vectorsOf } from "../src/worker/search/choose-vectors.ts";
import { createSearch } from "../src/worker/search/search.ts";
import { embedAll } from "./embed-all.ts";
import { createFreshDatabase } from "./fresh-database.ts";
import { indexFolder } from "./index-folder.ts";
import { judge } from "./judge.ts";
import { readCollection, writeDocuments } from "./judged-collection.ts";
import type { Collection } from "./judged-collection.ts";
import { loadPeers } from "./peer-engines.ts";
import type { Language } from "./peer-engines.ts";
import { createBm25 } from "./rank-by-bm25.ts";
import { DEFAULT_SEARCH } from "./search-settings.ts";

const DEPTH = 1_000;
const SHARED = "../shared/data";
const SETS = [
  ...["cacm", "med", "cisi"].map((name) => `${SHARED}/retrieval/${name}`),
  ...["squad", "xquad-es", "xquad-zh"].map((name) => `${SHARED}/questions/${name}`),
];

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean", default: false } },
});

/** Precision by the name of what ranked. */
type Row = { readonly collection: string; readonly map: Readonly<Record<string, number>> };

const peers = await loadPeers();
const rows: Row[] = [];
for (const folder of positionals.length > 0 ? positionals : SETS) {
  const collection = readCollection(folder);
  const map = {
    ...(await rankByNightdesk(collection)),
    ...(await rankByPeers(collection, languageOf(basename(folder)))),
  };
  rows.push({ collection: basename(folder), map });
}
print(rows);

async function rankByNightdesk(collection: Collection): Promise<Record<string, number>> {
  const workroot = mkdtempSync(join(tmpdir(), "nightdesk-bench-"));
  const { db, drop } = await createFreshDatabase();
  try {
    writeDocuments(collection, join(workroot, "corpus"));
    await indexFolder(db, workroot, false);
    const embedder = createHashingEmbedder();
    await embedAll(db, embedder);
    const search = createSearch({ db, vectors: vectorsOf(embedder), settings: DEFAULT_SEARCH });
    const map: Record<string, number> = {};
    for (const mode of ["lexical", "hybrid"] as const) {
      map[`Nightdesk, ${mode}`] = await meanPrecision(collection, async (text) => {
        const found = await search({ text, mode, limit: DEPTH }, new AbortController().signal);
        return found.map(({ path }) => path);
      });
    }
    return map;
  } finally {
    await drop();
    rmSync(workroot, { recursive: true });
  }
}

async function rankByPeers(
  collection: Collection,
  language: Language,
): Promise<Record<string, number>> {
  const map: Record<string, number> = {};
  for (const { name, index } of peers) {
    const rank = index(collection.docs, language, DEPTH);
    map[name] = await meanPrecision(collection, rank);
  }
  const rank = createBm25(collection.docs.map(({ text }) => text));
  map["BM25 1.2/.75"] = await meanPrecision(collection, (text) =>
    rank(text)
      .slice(0, DEPTH)
      .flatMap((at) => collection.docs[at]?.id ?? []),
  );
  return map;
}

async function meanPrecision(
  { queries, relevant }: Collection,
  rank: (text: string) => readonly string[] | Promise<readonly string[]>,
): Promise<number> {
  const rankings = [];
  for (const { id, text } of queries) rankings.push({ queryId: id, paths: await rank(text) });
  return judge(rankings, relevant).map;
}

function languageOf(collection: string): Language {
  if (collection.endsWith("-es")) return "spanish";
  return collection.endsWith("-zh") ? "chinese" : "english";
}

function print(all: readonly Row[]): void {
  if (flags.json) {
    for (const row of all) console.log(JSON.stringify(row));
    return;
  }
  const names = Object.keys(all[0]?.map ?? {});
  console.log(`| collection | ${names.join(" | ")} |`);
  console.log(`| --- |${" --- |".repeat(names.length)}`);
  for (const { collection, map } of all) {
    const cells = names.map((name) => (map[name] ?? 0).toFixed(3).replace(/^0/, ""));
    console.log(`| ${collection} | ${cells.join(" | ")} |`);
  }
}
