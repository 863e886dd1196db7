import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type Query = { readonly id: string; readonly text: string };

export type Collection = {
  readonly docs: readonly Query[];
  readonly queries: readonly Query[];
  /** The ids of the relevant documents by the id of the query. */
  readonly relevant: ReadonlyMap<string, ReadonlySet<string>>;
};

/** Reads docs.jsonl and queries.jsonl ({id, text} a line) and qrels.tsv (query, document, relevance a line). */
export function readCollection(folder: string): Collection {
  const lines = (name: string) =>
    readFileSync(join(folder, name), "utf8")
      .split("\n")
      .filter((line) => line !== "");
  const relevant = new Map<string, Set<string>>();
  for (const line of lines("qrels.tsv")) {
    const [query = "", doc = "", relevance = "0"] = line.split("\t");
    if (Number(relevance) > 0) relevant.set(query, (relevant.get(query) ?? new Set()).add(doc));
  }
  const parse = (line: string) => JSON.parse(line) as Query;
  return {
    docs: lines("docs.jsonl").map(parse),
    queries: lines("queries.jsonl").map(parse),
    relevant,
  };
}

/** One text file a document, named by its id. */
export function writeDocuments({ docs }: Collection, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const { id, text } of docs) writeFileSync(join(folder, `${id}.txt`), text);
}
