import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type Query = { readonly id: string; readonly text: string };

export type Collection = {
  readonly docs: readonly Query[];
  readonly queries: readonly Query[];
  /** The ids of the relevant documents by the id of the query. */
  readonly relevant: ReadonlyMap<string, ReadonlySet<string>>;
};

/**
 * Reads docs.jsonl ({id, text} a line), and queries.jsonl (the same) with qrels.tsv (query, document, relevance a line) or
 * questions.jsonl ({id, question, answers, doc} a line), whose questions without an answer are left out.
 */
export function readCollection(folder: string): Collection {
  const docs = linesOf(folder, "docs.jsonl").map((line) => JSON.parse(line) as Query);
  return existsSync(join(folder, "questions.jsonl"))
    ? { docs, ...readQuestions(folder) }
    : { docs, ...readJudgedQueries(folder) };
}

const linesOf = (folder: string, name: string): string[] =>
  readFileSync(join(folder, name), "utf8")
    .split("\n")
    .filter((line) => line !== "");

function readJudgedQueries(folder: string): Omit<Collection, "docs"> {
  const relevant = new Map<string, Set<string>>();
  for (const line of linesOf(folder, "qrels.tsv")) {
    const [query = "", doc = "", relevance = "0"] = line.split("\t");
    if (Number(relevance) > 0) relevant.set(query, (relevant.get(query) ?? new Set()).add(doc));
  }
  const queries = linesOf(folder, "queries.jsonl").map((line) => JSON.parse(line) as Query);
  return { queries, relevant };
}

type Question = {
  readonly id: string;
  readonly question: string;
  readonly answers: readonly string[];
  readonly doc: string;
};

function readQuestions(folder: string): Omit<Collection, "docs"> {
  const questions = linesOf(folder, "questions.jsonl")
    .map((line) => JSON.parse(line) as Question)
    .filter(({ answers }) => answers.length > 0);
  return {
    queries: questions.map(({ id, question }) => ({ id, text: question })),
    relevant: new Map(questions.map(({ id, doc }) => [id, new Set([doc])])),
  };
}

/** One text file a document, named by its id. */
export function writeDocuments({ docs }: Collection, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const { id, text } of docs) writeFileSync(join(folder, `${id}.txt`), text);
}
