import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { openReranker } from "../../../src/worker/embedders/transformers/reranker.ts";
import type {
  Reranker,
  RerankerSettings,
} from "../../../src/worker/embedders/transformers/reranker.ts";
import type { Reranking } from "../../../src/worker/search/rerank.ts";
import { openCorpus } from "../../support/test-corpus.ts";
import type { TestCorpus } from "../../support/test-corpus.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";
import { writeTinyReranker } from "../../support/tiny-model.ts";

const PACKAGE = resolve(import.meta.dirname, "..", "..", "..");
const DISTURB = join(PACKAGE, "tests/worker/embedders/transformers/disturb-model.js");
const EXEC_ARGV = ["--import", join(PACKAGE, "bench", "register.js"), "--import", DISTURB];

const SETTINGS: RerankerSettings = {
  model_id: "tiny",
  digest: null,
  dtype: "fp32",
  local_model_path: "tiny",
  timeout_s: 120,
  candidates: 50,
  cache_dir: null,
  device: "cpu",
  recycle_texts: 1_000,
  recycle_mb: 10_000,
};

let workroot: string;
let model: Reranker;
beforeAll(async () => {
  workroot = mkdtempSync(join(tmpdir(), "nightdesk-rerank-"));
  writeTinyReranker(join(workroot, "tiny"), { weights: { captain: 5, deck: 2, fog: -3 } });
  model = await openReranker(SETTINGS, { workroot, execArgv: EXEC_ARGV });
});
afterAll(() => {
  model.close();
  rmSync(workroot, { recursive: true });
});

describe.each(ENGINES)("search with a reranker on $engine", ({ open }) => {
  let database: TestDatabase;
  let corpus: TestCorpus;

  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.db.query("delete from nightdesk_data.documents");
    corpus = await openCorpus(database.db);
  });
  afterEach(() => {
    corpus.close();
  });

  const reranking = (candidates = 50): Reranking => ({ candidates, model: async () => model });
  const search = (
    request: Parameters<TestCorpus["search"]>[0],
    settings: Parameters<TestCorpus["search"]>[1] = {},
    by: Reranking | undefined = reranking(),
  ) => corpus.search({ mode: "hybrid", ...request }, settings, by);
  const nameOf = ({ path }: { readonly path: string }) => path.replace("notes/ops/", "");

  /** By words a.md is first, then b.md and c.md; the model wants c.md, then b.md. */
  async function writeFerries(): Promise<void> {
    corpus.write("notes/ops/a.md", "Ferry, ferry, ferry in the fog.\n");
    corpus.write("notes/ops/b.md", "Ferry and ferry, on a deck that nobody has scrubbed.\n");
    corpus.write("notes/ops/c.md", "Whoever asks for the ferry is sent to the captain of it.\n");
    await corpus.index();
    await corpus.embed();
  }

  test("orders what words and vectors found by what the model says, and shows both", async () => {
    await writeFerries();
    const plain = await corpus.search({ text: "ferry", mode: "hybrid" });
    expect(plain.map(nameOf)).toEqual(["a.md", "b.md", "c.md"]);
    expect(plain.every((passage) => !("reranked" in passage))).toBe(true);

    const found = await search({ text: "ferry" });
    expect(found.map(nameOf)).toEqual(["c.md", "b.md", "a.md"]);
    const [a, b, c] = plain;
    const by = model.name;
    expect(found.map(({ reranked }) => reranked)).toEqual([
      { by, score: 5, rank: 1, fusedRank: 3, fusedScore: c?.score },
      { by, score: 2, rank: 2, fusedRank: 2, fusedScore: b?.score },
      { by, score: -3, rank: 3, fusedRank: 1, fusedScore: a?.score },
    ]);
    expect(found.map(({ score }) => score)).toEqual(
      [5, 2, -3].map((score) => expect.closeTo(1 / (1 + Math.exp(-score)), 12)),
    );
    expect(found[0]).toMatchObject({ lexicalRank: 3, lexicalScore: c?.lexicalScore });
  });

  test("the first of the new order are taken, of all that the two searches found", async () => {
    await writeFerries();
    expect((await search({ text: "ferry", limit: 1 })).map(nameOf)).toEqual(["c.md"]);
  });

  test("hits behind the candidates keep their order, and a score of 0", async () => {
    await writeFerries();
    const found = await search({ text: "ferry" }, {}, reranking(2));
    expect(found.map(nameOf)).toEqual(["b.md", "a.md", "c.md"]);
    expect(found[2]).toMatchObject({
      score: 0,
      reranked: { score: null, rank: 3, fusedRank: 3, by: model.name },
    });
  });

  test("equal scores keep the fused order", async () => {
    corpus.write("notes/ops/a.md", "Ferry, ferry, ferry.\n");
    corpus.write("notes/ops/b.md", "Ferry and ferry, and nothing else of it.\n");
    corpus.write("notes/ops/c.md", "The captain of the ferry, who is not there today at all.\n");
    await corpus.index();
    await corpus.embed();
    expect((await search({ text: "ferry" })).map(nameOf)).toEqual(["c.md", "a.md", "b.md"]);
  });

  test("a document gives no more than its share, and of its passages those that the model wants", async () => {
    const section = (words: string) => `# Ferry\n\n${words}\n\n`;
    corpus.write(
      "notes/ops/a.md",
      `${section("Ferry, ferry, ferry.")}${section("The captain.")}${section("A deck.")}`,
    );
    corpus.write("notes/ops/b.md", "A ferry.\n");
    await corpus.index();
    await corpus.embed();
    const found = await search({ text: "ferry" }, { perDocument: 1 });
    expect(found.map(nameOf)).toEqual(["a.md", "b.md"]);
    expect(found[0]).toMatchObject({ text: expect.stringContaining("captain") });
  });

  test("the model reads the title of its document before a passage", async () => {
    corpus.write("notes/ops/a.md", "---\ntitle: Captain\n---\nThe ferry leaves at nine.\n");
    corpus.write("notes/ops/b.md", "Ferry, ferry, ferry.\n");
    await corpus.index();
    await corpus.embed();
    const [first] = await search({ text: "ferry" });
    expect(first).toMatchObject({ path: "notes/ops/a.md", reranked: { score: 5 } });
  });

  test.each(["lexical", "vector"] as const)("a %s search is ordered as ever", async (mode) => {
    await writeFerries();
    const never = {
      candidates: 50,
      model: () => Promise.reject(new Error("the model was asked for")),
    };
    expect(await search({ text: "ferry", mode }, {}, never)).toEqual(
      await corpus.search({ text: "ferry", mode }),
    );
  });

  test("for evidence it reads nothing that is near in spelling alone, and nothing where nothing is found", async () => {
    corpus.write(
      "notes/ops/a.md",
      `The ferry of the harbour. ${"Much else stands here. ".repeat(9)}`,
    );
    corpus.write("notes/ops/b.md", "Handbuchsammlung, ferryman.\n");
    await corpus.index();
    await corpus.embed();
    const asWritten = { text: "ferry handbuch", spelling: "as written" } as const;
    const evidence = { purpose: "evidence", spelling: "as written" } as const;
    const near = await corpus.search({ ...asWritten, mode: "vector" });
    expect(near.map(nameOf)).toContain("b.md");
    // Nor is somebody who looks for himself shown it beside what has a word.
    const shown = await corpus.search({ ...asWritten, mode: "hybrid" }, { vectorWeight: 100 });
    expect(shown.map(nameOf)).toEqual(["a.md"]);
    const found = await search({ ...asWritten, ...evidence }, { vectorWeight: 100 }, reranking(1));
    expect(found.map(nameOf)).toEqual(["a.md"]);
    expect(found[0]).toMatchObject({ reranked: { fusedRank: 1, score: 0 } });
    const never = {
      candidates: 50,
      model: () => Promise.reject(new Error("the model was asked for")),
    };
    expect(await search({ text: "zeppelin", ...evidence }, {}, never)).toEqual([]);
  });

  test("a model that does not answer ends the search with its code, and never with another order", async () => {
    corpus.write("notes/ops/a.md", "A ferry will not die.\n");
    await corpus.index();
    await corpus.embed();
    // At this question the process ends itself, whatever stands beside it.
    await expect(search({ text: "die" })).rejects.toMatchObject({ code: "TOOL_ERROR" });
    expect((await search({ text: "ferry" })).map(nameOf)).toEqual(["a.md"]);
  });
});
