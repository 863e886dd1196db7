import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { expandQuestion } from "../../../src/shared/store/index/question-words.ts";
import { searchLexical } from "../../../src/shared/store/index/search-lexical.ts";
import { explainHits } from "../../../src/worker/search/explain-hits.ts";
import { namesSubject } from "../../../src/worker/search/feedback.ts";
import { openCorpus, SETTINGS } from "../../support/test-corpus.ts";
import type { TestCorpus } from "../../support/test-corpus.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

const ALL = { pathPrefix: undefined, source: undefined, limit: 10 };

describe("a question names a subject", () => {
  const hitsOf = (first: number, others: number) =>
    [first, ...Array<number>(9).fill(others)].map((coverage, at) => ({ coverage, docId: `${at}` }));
  const namesOf = (first: number, others: number) => namesSubject(hitsOf(first, others));

  test("where the first ten documents hold as much of it, and none all", () => {
    expect(namesOf(0.5, 0.4)).toBe(true);
    expect(namesOf(0.5, 0.2)).toBe(false);
    expect(namesOf(0.9, 0.9)).toBe(false);
  });

  test("only where there are ten documents", () => {
    expect(namesSubject(hitsOf(0.5, 0.4).slice(1))).toBe(false);
    expect(namesSubject(hitsOf(0.5, 0.4).map((hit) => ({ ...hit, docId: "1" })))).toBe(false);
    expect(namesSubject([])).toBe(false);
  });
});

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

  const expand = async (text: string) =>
    expandQuestion(database.db, { text }, await searchLexical(database.db, { text }, ALL));
  const find = async (feedback: "off" | "rm3") =>
    (await corpus.search({ text: "automobile" }, { feedback })).map(({ path }) => path);

  test("finds what shares words with the best passages, after them", async () => {
    expect(await find("off")).toEqual(["notes/ops/car.md"]);
    expect(await find("rm3")).toEqual(["notes/ops/car.md", "notes/ops/box.md"]);
  });

  test("the model of the words is that of RM3", async () => {
    const added = await expand("automobile");
    expect(added.map(({ term }) => term)).toEqual(["gearbox", "automobil", "repair"]);
    const [gearbox, automobile, repair] = added.map(({ times }) => times);
    expect(gearbox).toBeCloseTo(0.25, 9);
    expect(automobile).toBeCloseTo(0.125, 9);
    expect(repair).toBeCloseTo(0.125, 9);
  });

  test("a word of more than a tenth of the chunks tells nothing, chunks that are gone left out", async () => {
    const terms = async () => (await expand("gearbox soup")).map(({ term }) => term);
    expect(await terms()).not.toContain("soup");
    for (let at = 0; at < 30; at += 1) corpus.write(`notes/ops/x${at}.md`, `gearbox ${at}\n`);
    await corpus.index();
    expect(await terms()).not.toContain("gearbox");
    for (let at = 0; at < 30; at += 1) corpus.remove(`notes/ops/x${at}.md`);
    await corpus.index();
    expect(await terms()).toContain("gearbox");
  });

  test("by itself it is for a question that many passages hold a part of, and none the whole", async () => {
    const subjects = ["alpine", "meadow", "plants"];
    for (let at = 0; at < 10; at += 1) {
      const found = at < 2 ? "gentian gentian" : "observed again";
      corpus.write(`notes/lab/f${at}.md`, `${subjects[at % 3] ?? ""} ${found}\n`);
    }
    corpus.write("notes/lab/gentian.md", "gentian in spring\n");
    await corpus.index();
    const search = (text: string) => corpus.search({ text, limit: 50 }, { feedback: "auto" });
    const pathsOf = async (text: string) => (await search(text)).map(({ path }) => path);
    expect(await pathsOf("alpine meadow plants of snow")).toContain("notes/lab/gentian.md");
    expect(await pathsOf("automobile repair")).toEqual(["notes/ops/car.md"]);
  });

  test("nothing found adds nothing", async () => {
    expect(await expand("zeppelin")).toEqual([]);
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
