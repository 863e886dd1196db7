import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { expandQuestion } from "../../../src/shared/store/index/question-words.ts";
import { explainHits } from "../../../src/worker/search/explain-hits.ts";
import { openCorpus, SETTINGS } from "../../support/test-corpus.ts";
import type { TestCorpus } from "../../support/test-corpus.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

const ALL = { pathPrefix: undefined, source: undefined, limit: 10 };

describe.each(ENGINES)("feedback on $engine", ({ open }) => {
  let database: TestDatabase;
  let corpus: TestCorpus;

  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.db.query("delete from nightdesk_data.documents");
    corpus = await openCorpus(database.db);
    corpus.write("notes/ops/car.md", "automobile gearbox gearbox repair\n");
    corpus.write("notes/ops/box.md", "gearbox oil\n");
    for (let at = 0; at < 20; at += 1) corpus.write(`notes/ops/n${at}.md`, `soup number ${at}\n`);
    await corpus.index();
  });
  afterEach(() => {
    corpus.close();
  });

  const find = async (feedback: "off" | "rm3") =>
    (await corpus.search({ text: "automobile" }, { feedback })).map(({ path }) => path);

  test("finds what shares words with the best passages, after them", async () => {
    expect(await find("off")).toEqual(["notes/ops/car.md"]);
    expect(await find("rm3")).toEqual(["notes/ops/car.md", "notes/ops/box.md"]);
  });

  test("the model of the words is that of RM3", async () => {
    const added = await expandQuestion(database.db, { text: "automobile" }, ALL);
    expect(added).toEqual([
      { term: "gearbox", times: 0.5 },
      { term: "automobil", times: 0.25 },
      { term: "repair", times: 0.25 },
    ]);
  });

  test("a word of more than a tenth of the chunks tells nothing, chunks that are gone left out", async () => {
    const terms = async () =>
      (await expandQuestion(database.db, { text: "gearbox soup" }, ALL)).map(({ term }) => term);
    expect(await terms()).not.toContain("soup");
    for (let at = 0; at < 30; at += 1) corpus.write(`notes/ops/x${at}.md`, `gearbox ${at}\n`);
    await corpus.index();
    expect(await terms()).not.toContain("gearbox");
    for (let at = 0; at < 30; at += 1) corpus.remove(`notes/ops/x${at}.md`);
    await corpus.index();
    expect(await terms()).toContain("gearbox");
  });

  test("nothing found adds nothing", async () => {
    expect(await expandQuestion(database.db, { text: "zeppelin" }, ALL)).toEqual([]);
  });

  test("an explanation shows the words that were added, and adds up", async () => {
    const request = { text: "automobile", mode: "lexical", limit: 5 } as const;
    const settings = { ...SETTINGS, feedback: "rm3" } as const;
    const passages = await corpus.search(request, settings);
    const explanations = await explainHits(database.db, request, passages, settings);
    for (const { chunkKey, lexicalScore } of passages) {
      const { terms = [] } = explanations.get(chunkKey) ?? {};
      expect(terms.reduce((sum, { score }) => sum + score, 0)).toBeCloseTo(lexicalScore ?? 0, 6);
      expect(terms.map(({ term }) => term)).toContain("gearbox");
    }
  });
});
