// Ranking quality on a judged collection (docs.jsonl, queries.jsonl, qrels.tsv) and where evidence lies in meetings,
// beside baselines of the same run. What is chosen is chosen on one half of the meetings and told of the other.
// node --import ./bench/register.js bench/retrieval.ts [folder] [--meetings=file] [--cli]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { searchLexical } from "../src/shared/store/index/search-lexical.ts";
import { createHashingEmbedder } from "../src/worker/embedders/hashing.ts";
import { vectorsOf } from "../src/worker/search/choose-vectors.ts";
import { createSearch, lexicalQuestion } from "../src/worker/search/search.ts";
import type { SearchRequest, SearchSettings } from "../src/worker/search/search.ts";
import { embedAll } from "./embed-all.ts";
import { createFreshDatabase } from "./fresh-database.ts";
import { indexFolder } from "./index-folder.ts";
import { judge, type Ranking } from "./judge.ts";
import { readCollection, writeDocuments } from "./judged-collection.ts";
import { bm25Turns, chance, firstTurns, orderMeetings } from "./meetings-baselines.ts";
import {
  evidenceRecall,
  hitRate,
  type OrderedSpans,
  searchMeetings,
  writeMeetings,
} from "./meetings-retrieval.ts";
import { readMeetings } from "./meetings.ts";
import { queryByCommand } from "./query-by-command.ts";
import { BASELINES, rankByBaseline, withBaselines } from "./rank-by-postgres.ts";
import { DEFAULT_SEARCH } from "./search-settings.ts";

const DEPTH = 1_000;
const MODES = ["lexical", "vector", "hybrid"] as const;
const WEIGHTS = [0, 0.25, 0.5, 0.75, 1];
const args = process.argv.slice(2);
const folder = args.find((arg) => !arg.startsWith("--")) ?? "../shared/data/retrieval/cacm";
const meetingsFile =
  args.find((arg) => arg.startsWith("--meetings="))?.slice("--meetings=".length) ??
  "../shared/data/qmsum-val/data.jsonl";
const embedder = createHashingEmbedder();

await withIndex(judgeCollection);
await withIndex(judgeMeetings);

type Bench = Awaited<ReturnType<typeof createFreshDatabase>> & { readonly workroot: string };

async function withIndex(run: (bench: Bench) => Promise<void>): Promise<void> {
  const workroot = mkdtempSync(join(tmpdir(), "nightdesk-bench-"));
  const database = await createFreshDatabase();
  try {
    await run({ ...database, workroot });
  } finally {
    await database.drop();
    rmSync(workroot, { recursive: true });
  }
}

async function judgeCollection({ db, url, workroot }: Bench): Promise<void> {
  const collection = readCollection(folder);
  const { queries, relevant } = collection;
  const print = (name: string, rankings: readonly Ranking[], ms?: number) => {
    const { map, ndcg10, recall100 } = judge(rankings, relevant);
    const time = ms === undefined ? "" : `  ${(ms / rankings.length).toFixed(1)} ms a query`;
    console.log(
      `${name.padEnd(34)} MAP@${DEPTH} ${map.toFixed(4)}  nDCG@10 ${ndcg10.toFixed(4)}  ` +
        `R@100 ${recall100.toFixed(4)}${time}`,
    );
  };
  writeDocuments(collection, join(workroot, "corpus"));
  const { documents_total, chunks_total } = await indexFolder(db, workroot, false);
  await embedAll(db, embedder);
  console.log(`${documents_total} documents, ${chunks_total} chunks`);

  if (basename(folder) === "cacm") {
    console.log("published (Anserini): BM25(0.9, 0.4) MAP 0.3123, BM25 + RM3 0.3648");
  }
  await withBaselines(db, async () => {
    for (const { name, statement } of BASELINES) {
      const startedAt = performance.now();
      const rankings = await rankByBaseline(db, statement, { queries, depth: DEPTH });
      print(name, rankings, performance.now() - startedAt);
    }
  });
  for (const mode of MODES) {
    const begun = performance.now();
    print(mode, await rankAll(mode, DEFAULT_SEARCH), performance.now() - begun);
    if (!args.includes("--cli")) continue;
    const byCommand = { mode, workroot, url, limit: DEPTH };
    print(`${mode}, by the command`, queryByCommand(queries, byCommand));
  }
  const expanded = performance.now();
  const withFeedback = await rankAll("lexical", { ...DEFAULT_SEARCH, feedback: "rm3" });
  print("lexical + feedback", withFeedback, performance.now() - expanded);
  for (const neighbourWeight of WEIGHTS) {
    const rankings = await rankAll("lexical", { ...DEFAULT_SEARCH, neighbourWeight });
    print(`lexical, neighbours ${neighbourWeight}`, rankings);
  }
  await printBounds(chunks_total);

  async function rankAll(
    mode: SearchRequest["mode"],
    settings: SearchSettings,
  ): Promise<Ranking[]> {
    const search = createSearch({ db, vectors: vectorsOf(embedder), settings });
    const rankings: Ranking[] = [];
    for (const { id, text } of queries) {
      const passages = await search({ text, mode, limit: DEPTH }, new AbortController().signal);
      rankings.push({ queryId: id, paths: passages.map(({ path }) => path) });
    }
    return rankings;
  }

  /** What it costs to read so many postings only, and as large a part of these as is read of 100,000 chunks. */
  async function printBounds(chunks: number): Promise<void> {
    const part = chunks / 100_000;
    const all = { scored: 10 ** 9, read: 10 ** 9, listed: 20_000 };
    const asOf100k = {
      scored: Math.ceil(10_000 * part),
      read: Math.ceil(100_000 * part),
      listed: 20_000,
    };
    const { rows } = (await db.query(
      "select chunk_key, path from nightdesk.chunks",
    )) as unknown as { rows: { chunk_key: string; path: string }[] };
    const paths = new Map(rows.map(({ chunk_key, path }) => [chunk_key, path]));
    const filter = { pathPrefix: undefined, source: undefined, limit: DEPTH };
    for (const [name, bounds] of [
      ["word search alone, all postings", all],
      ["word search alone, as bounded", undefined],
      ["  bounded as at 100,000 chunks", asOf100k],
    ] as const) {
      const rankings: Ranking[] = [];
      for (const { id, text } of queries) {
        const question = lexicalQuestion({ text, mode: "lexical", limit: DEPTH });
        const hits = await searchLexical(db, question, filter, bounds);
        rankings.push({
          queryId: id,
          paths: hits.map(({ chunkKey }) => paths.get(chunkKey) ?? ""),
        });
      }
      print(name, rankings);
    }
  }
}

async function judgeMeetings({ db, workroot }: Bench): Promise<void> {
  const meetings = writeMeetings(readMeetings(meetingsFile), workroot);
  const { chunks_total } = await indexFolder(db, workroot, false);
  await embedAll(db, embedder);
  const questions = meetings.reduce((sum, meeting) => sum + meeting.questions.length, 0);
  console.log(`\n${meetings.length} meetings, ${chunks_total} chunks, ${questions} questions`);

  printRecall("baseline, chance", orderMeetings(meetings, chance()));
  printRecall("baseline, first turns", orderMeetings(meetings, firstTurns));
  printRecall("baseline, BM25 of turns", orderMeetings(meetings, bm25Turns(0)));
  printRecall("baseline, BM25 with 3 turns around", orderMeetings(meetings, bm25Turns(3)));
  for (const mode of MODES) printRecall(mode, await answer(mode, DEFAULT_SEARCH));
  const withFeedback = { ...DEFAULT_SEARCH, feedback: "rm3" } as const;
  printRecall("lexical + feedback", await answer("lexical", withFeedback));

  const byWeight: { weight: number; answers: OrderedSpans[] }[] = [];
  for (const weight of WEIGHTS) {
    const settings = { ...DEFAULT_SEARCH, neighbourWeight: weight };
    byWeight.push({ weight, answers: await answer("lexical", settings) });
  }
  for (const { weight, answers } of byWeight) printRecall(`lexical, neighbours ${weight}`, answers);
  for (const rest of [0, 1]) printChosen(byWeight, rest);

  function answer(mode: SearchRequest["mode"], settings: SearchSettings): Promise<OrderedSpans[]> {
    const all = { ...settings, perDocument: 1_000 };
    return searchMeetings(
      createSearch({ db, vectors: vectorsOf(embedder), settings: all }),
      meetings,
      mode,
    );
  }

  /** The weight that is best on one half, on the other half. */
  function printChosen(choices: typeof byWeight, rest: number): void {
    const half = ({ answers }: (typeof byWeight)[number], wanted: number) =>
      answers.filter(({ meeting }) => meetings.indexOf(meeting) % 2 === wanted);
    const recallOf = (choice: (typeof byWeight)[number]) =>
      evidenceRecall(half(choice, rest), 1 / 6);
    const best = choices.toSorted((a, b) => recallOf(b) - recallOf(a))[0];
    if (best === undefined) return;
    printRecall(`neighbours ${best.weight}, chosen elsewhere`, half(best, 1 - rest));
  }
}

function printRecall(name: string, answers: readonly OrderedSpans[]): void {
  const recall = (part: number) => evidenceRecall(answers, part).toFixed(1);
  const hits = (depth: number) => hitRate(answers, depth).toFixed(1);
  console.log(
    `${name.padEnd(34)} evidence at 1/6 of the text ${recall(1 / 6)}  at 1/3 ${recall(1 / 3)}  ` +
      `hit@1 ${hits(1)}  hit@5 ${hits(5)}`,
  );
}
