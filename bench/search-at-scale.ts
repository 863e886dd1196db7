// The searching process of chunks-at-scale.ts: 200 questions of two to six words, one after the other and each by every
// way in turn, so that what else the machine does is in all alike. A way that has taken half a minute is asked no further.
// node --import ./bench/register.js bench/search-at-scale.ts URL
import { loadavg } from "node:os";
import { openDatabase } from "../src/shared/store/connection/database.ts";
import type { Database } from "../src/shared/store/connection/database.ts";
import { vectorText } from "../src/shared/store/index/vector-index.ts";
import { vectorsOf } from "../src/worker/search/choose-vectors.ts";
import { createSearch } from "../src/worker/search/search.ts";
import type { Search, SearchRequest } from "../src/worker/search/search.ts";
import { DEFAULT_SEARCH } from "./search-settings.ts";
import { seededRandom } from "./synthetic-corpus.ts";
import { clusteredVector, drawQuestion, embedderOf, FOLDER, TAG } from "./zipf-corpus.ts";

const QUESTIONS = 200;
const WARM_UP = 20;
const LIMIT = 10;
const MOST_MS = 30_000;

const MODES = { words: "lexical", vectors: "vector", both: "hybrid" } as const;
const FILTERS: Readonly<Record<string, Partial<SearchRequest>>> = {
  "": {},
  ", a folder of 1 %": { pathPrefix: FOLDER },
  ", a tag of 10 %": { where: [TAG] },
};
const EXACT = "baseline: exact scan of the vectors";

const signal = new AbortController().signal;
const db = openDatabase({
  target: { kind: "url", url: process.argv[2] ?? "" },
  maxConnections: 4,
  statements: "query",
  onError: (error) => {
    console.error(error);
  },
});

type Way = {
  readonly name: string;
  readonly find: (question: string) => Promise<readonly string[]>;
};

try {
  const { chunks, hasVectors } = await lookAtIndex(db);
  const { questions, vectors } = await drawQuestions(chunks);
  const search = createSearch({
    db,
    vectors: vectorsOf(embedderOf(vectors)),
    // The share of a document would hide what an index does not find.
    settings: { ...DEFAULT_SEARCH, perDocument: LIMIT },
  });
  const ways = [...waysOf(search, hasVectors), ...baselines(db, hasVectors ? vectors : undefined)];
  printTable(await ask(ways, questions));
} finally {
  await db.end();
}

type Asked = {
  readonly times: ReadonlyMap<string, readonly number[]>;
  /** Of the nearest vectors, what the search by vectors found. */
  readonly recall: number | undefined;
};

function printTable({ times, recall }: Asked): void {
  console.log(`${"".padEnd(50)}  questions   p50 ms   p99 ms`);
  for (const [name, taken] of times) {
    const figures = [percentile(taken, 0.5), percentile(taken, 0.99)];
    const [p50, p99] = figures.map((figure) => figure.toFixed(1).padStart(8));
    console.log(`${name.padEnd(50)} ${String(taken.length).padStart(10)} ${p50} ${p99}`);
  }
  if (recall !== undefined) {
    console.log(`by vectors, of the ${LIMIT} nearest: ${recall.toFixed(3)} found`);
  }
  const memory = Math.round(process.resourceUsage().maxRSS / 1_024);
  console.log(`searching process: ${memory} MiB at most; load ${loadavg()[0]?.toFixed(1) ?? "?"}`);
}

async function lookAtIndex(database: Database): Promise<{ chunks: number; hasVectors: boolean }> {
  const { rows } = await database.query(
    `select max(chunk_id)::integer as chunks, exists (select from nightdesk_data.embeddings) as "hasVectors"
       from nightdesk_data.chunks`,
  );
  return rows[0] as { chunks: number; hasVectors: boolean };
}

/** Words of passages that are spread over the index, each with a vector near to their document's. */
async function drawQuestions(
  chunks: number,
): Promise<{ questions: string[]; vectors: ReadonlyMap<string, Float32Array> }> {
  const random = seededRandom(11);
  const ids = Array.from({ length: QUESTIONS + WARM_UP }, () => 1 + Math.floor(random() * chunks));
  const { rows } = (await db.query(
    `select doc_id::integer, text from unnest($1::bigint[]) with ordinality as drawn (chunk_id, place)
       join nightdesk_data.chunks using (chunk_id) order by place`,
    [ids],
  )) as unknown as { rows: { doc_id: number; text: string }[] };
  const questions = rows.map(({ text }) => drawQuestion(text, random));
  const vectors = rows.flatMap(({ doc_id }, place): [string, Float32Array][] => {
    const question = questions[place] ?? "";
    const vector = clusteredVector(doc_id, chunks + 1 + place);
    return [question, misspell(question)].map((text) => [text, vector]);
  });
  return { questions, vectors: new Map(vectors) };
}

/** One letter too many in the last word, which makes a word that nothing holds. */
function misspell(question: string): string {
  return `${question}q`;
}

function waysOf(search: Search, hasVectors: boolean): Way[] {
  const found = async (request: Omit<SearchRequest, "limit">): Promise<string[]> =>
    (await search({ ...request, limit: LIMIT }, signal)).map(({ chunkKey }) => chunkKey);
  const ways = Object.entries(MODES).flatMap(([by, mode]) =>
    Object.entries(FILTERS)
      .filter(() => mode === "lexical" || hasVectors)
      .map(([filter, more]) => ({
        name: `by ${by}${filter}`,
        find: (text: string) => found({ text, mode, ...more }),
      })),
  );
  // Without vectors it is what words alone find.
  const find = (question: string) => found({ text: misspell(question), mode: "hybrid" });
  return [...ways, { name: "by both, one word misspelt", find }];
}

/** @param vectors of the questions, where there are any */
function baselines(
  database: Database,
  vectors: ReadonlyMap<string, Float32Array> | undefined,
): Way[] {
  const asked = (name: string, from: string, valueOf: (text: string) => string): Way => ({
    name,
    find: async (text) => {
      const { rows } = (await database.query(
        `select chunk_key from (${from} limit ${LIMIT}) found join nightdesk_data.chunks using (chunk_id)`,
        [valueOf(text)],
      )) as unknown as { rows: { chunk_key: string }[] };
      return rows.map(({ chunk_key }) => chunk_key);
    },
  });
  const byRank = (query: string) =>
    `select chunk_id from public.baseline, (select ${query} as asked) question where words @@ asked
      order by ts_rank_cd(words, asked) desc, chunk_id`;
  const anyWord = `(select string_agg(quote_literal(lexeme), ' | ')::tsquery from unnest(to_tsvector('english', $1)))`;
  const same = (text: string) => text;
  return [
    asked("baseline: any word, GIN and ts_rank_cd", byRank(anyWord), same),
    asked(
      "baseline: all words, GIN and ts_rank_cd",
      byRank("plainto_tsquery('english', $1)"),
      same,
    ),
    ...(vectors === undefined
      ? []
      : [
          asked(
            EXACT,
            "select chunk_id from nightdesk_data.embeddings order by embedding <#> $1::vector",
            (text) => vectorText(vectors.get(text) ?? new Float32Array()),
          ),
        ]),
  ];
}

async function ask(ways: readonly Way[], questions: readonly string[]): Promise<Asked> {
  const times = new Map(ways.map(({ name }) => [name, [] as number[]]));
  const spent = new Map<string, number>();
  const recalls: number[] = [];
  for (const [at, question] of questions.entries()) {
    const found = new Map<string, readonly string[]>();
    for (const { name, find } of ways) {
      if ((spent.get(name) ?? 0) > MOST_MS) continue;
      const startedAt = performance.now();
      found.set(name, await find(question));
      const ms = performance.now() - startedAt;
      spent.set(name, (spent.get(name) ?? 0) + ms);
      if (at >= WARM_UP) times.get(name)?.push(ms);
    }
    const [exact, near] = [found.get(EXACT), found.get("by vectors")];
    if (exact !== undefined && near !== undefined) {
      recalls.push(exact.filter((key) => near.includes(key)).length / exact.length);
    }
  }
  return { times, recall: mean(recalls) };
}

function mean(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function percentile(times: readonly number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(share * times.length)] ?? Number.NaN;
}
