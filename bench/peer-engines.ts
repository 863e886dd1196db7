import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Query } from "./judged-collection.ts";

/** Ids of the best documents for a text, best first. */
type Rank = (text: string) => readonly string[];

export type Language = "english" | "spanish" | "chinese";

export type PeerEngine = {
  readonly name: string;
  readonly index: (docs: readonly Query[], language: Language, depth: number) => Rank;
};

const FOLDER = new URL("peers/", import.meta.url);

/**
 * Lunr, SQLite FTS5 and MiniSearch, which bench/peers/package.json names; they are installed there where they are missing.
 * Each gets the same texts and questions, any word of a question being enough, and what it has for a language: lunr its
 * pipelines of English and Spanish, FTS5 its Porter stemmer, or groups of three letters for Chinese, and MiniSearch, which
 * stems nothing, the package `stemmer`.
 */
export async function loadPeers(): Promise<readonly PeerEngine[]> {
  if (!existsSync(new URL("node_modules/stemmer", FOLDER))) {
    execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
      cwd: fileURLToPath(FOLDER),
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  const porter = (await import(new URL("node_modules/stemmer/index.js", FOLDER).href)) as Porter;
  return [
    { name: "lunr", index: indexByLunr },
    { name: "SQLite FTS5", index: indexByFts5 },
    { name: "MiniSearch", index: indexByMiniSearch(porter) },
  ];
}

const load = createRequire(new URL("package.json", FOLDER));

type LunrBuilder = {
  readonly ref: (name: string) => void;
  readonly field: (name: string) => void;
  readonly use: (plugin: unknown) => void;
  readonly add: (doc: unknown) => void;
};
type LunrIndex = {
  readonly pipeline: { readonly runString: (word: string) => readonly string[] };
  readonly query: (
    build: (query: { term: (word: string, options: object) => void }) => void,
  ) => readonly { readonly ref: string }[];
};
type Lunr = ((configure: (this: LunrBuilder) => void) => LunrIndex) & { readonly es?: unknown };

const indexByLunr: PeerEngine["index"] = (docs, language, depth) => {
  const lunr = load("lunr") as Lunr;
  if (language === "spanish" && lunr.es === undefined) {
    for (const name of ["stemmer.support", "es"]) {
      (load(`lunr-languages/lunr.${name}`) as (target: Lunr) => void)(lunr);
    }
  }
  const index = lunr(function () {
    if (language === "spanish") this.use(lunr.es);
    this.ref("id");
    this.field("text");
    for (const doc of docs) this.add(doc);
  });
  return (text) =>
    index
      .query((query) => {
        // Its parser of questions takes "-", ":" and "*" for operators.
        for (const word of wordsOf(text)) query.term(word, { usePipeline: true });
      })
      .slice(0, depth)
      .map(({ ref }) => ref);
};

type Sqlite = {
  readonly Database: new (file: string) => {
    readonly exec: (statement: string) => void;
    readonly run: (statement: string, values: readonly string[]) => void;
    readonly all: (statement: string, values: readonly unknown[]) => readonly { id: string }[];
  };
};

const indexByFts5: PeerEngine["index"] = (docs, language, depth) => {
  const { Database } = load("node-sqlite3-wasm") as Sqlite;
  const db = new Database(":memory:");
  const tokenizer = language === "chinese" ? "trigram" : "porter unicode61";
  db.exec(`create virtual table docs using fts5(id unindexed, text, tokenize = '${tokenizer}')`);
  db.exec("begin");
  for (const { id, text } of docs) db.run("insert into docs values (?, ?)", [id, text]);
  db.exec("commit");
  const termsOf = language === "chinese" ? trigramsOf : wordsOf;
  return (text) => {
    const terms = [...new Set(termsOf(text))].map((word) => `"${word}"`);
    if (terms.length === 0) return [];
    const found = "select id from docs where docs match ? order by bm25(docs), rowid limit ?";
    return db.all(found, [terms.join(" OR "), depth]).map(({ id }) => id);
  };
};

type MiniSearchClass = new (options: object) => {
  readonly addAll: (docs: readonly Query[]) => void;
  readonly search: (text: string) => readonly { readonly id: string }[];
};

/** Porter's stemmer, which is one of English. */
type Porter = { readonly stemmer: (word: string) => string };

const indexByMiniSearch =
  ({ stemmer }: Porter): PeerEngine["index"] =>
  (docs, language, depth) => {
    const MiniSearch = load("minisearch") as MiniSearchClass;
    const stem = language === "english" ? stemmer : (word: string) => word;
    const index = new MiniSearch({
      fields: ["text"],
      processTerm: (term: string) => stem(term.toLowerCase()),
    });
    index.addAll(docs);
    return (text) =>
      index
        .search(text)
        .slice(0, depth)
        .map(({ id }) => id);
  };

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];

const trigramsOf = (text: string): string[] =>
  wordsOf(text).flatMap((run) => {
    const letters = Array.from(run);
    return letters.slice(2).map((_, at) => letters.slice(at, at + 3).join(""));
  });
