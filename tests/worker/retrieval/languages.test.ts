import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { LANGUAGES } from "../../../src/shared/language.ts";
import { explainHits } from "../../../src/worker/retrieval/search/explain-hits.ts";
import { readOperators } from "../../../src/worker/retrieval/search/read-operators.ts";
import { ENGINES, type TestDatabase } from "../../shared/db/index/test-databases.ts";
import { countsAreTrue } from "./counts-are-true.ts";
import { findIndexFaults } from "../../../src/shared/db/index/index-integrity.ts";
import { SOUND } from "./sound-index.ts";
import { openCorpus, SETTINGS, type TestCorpus } from "./test-corpus.ts";

const GERMAN = { languages: { lab: "german" } } as const;

describe.each(ENGINES)("several languages in one index on $engine", ({ open }) => {
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

  const found = async (text: string) =>
    (await corpus.search(readOperators(text))).map(({ path }) => path.replace("notes/", "")).sort();

  async function indexBoth(): Promise<void> {
    corpus.write("notes/ops/dice.md", "# Dice\n\nRoll the die; the houses are lit.\n");
    corpus.write("notes/ops/rail.md", "# Rail\n\nThe trains are running, see ERR_42.\n");
    corpus.write("notes/lab/haus.md", "# Häuser\n\nDie Häuser der Stadt und die Brücken.\n");
    corpus.write("notes/lab/bahn.md", "# Bahn\n\nDie Züge fahren, siehe ERR_42 im Haus.\n");
    await corpus.indexWith(GERMAN);
  }

  test.each([
    ["Haus", ["lab/bahn.md", "lab/haus.md"]],
    ["house", ["ops/dice.md"]],
    ["train runs", ["ops/rail.md"]],
    ["Zug", ["lab/bahn.md"]],
    ["die", ["ops/dice.md"]],
    ["ERR_42", ["lab/bahn.md", "ops/rail.md"]],
    ['"die Brücken"', ["lab/haus.md"]],
    ['"Haus der Stadt"', ["lab/haus.md"]],
    ['"trains are running"', ["ops/rail.md"]],
    ["brü*", ["lab/haus.md"]],
    ["hou* brü*", ["lab/haus.md", "ops/dice.md"]],
    ["ERR_42 -Haus", ["ops/rail.md"]],
    ["ERR_42 -trains", ["lab/bahn.md"]],
    ["ger*", []],
  ])("%s finds what holds it in its own language", async (text, expected) => {
    await indexBoth();
    expect(await found(text)).toEqual(expected);
  });

  test("each language weighs its words as an index of its own would", async () => {
    await indexBoth();
    const ofBoth = await corpus.search({ text: "ERR_42 train Zug" });
    const scores = new Map(ofBoth.map(({ path, score }) => [path, score]));
    corpus.remove("notes/lab/haus.md");
    corpus.remove("notes/lab/bahn.md");
    await corpus.index({ source: "lab", pruneOfEmptyRoot: "allowed" });
    const alone = await corpus.search({ text: "ERR_42 train Zug" });
    expect(alone.map(({ path, score }) => [path, score])).toEqual([
      ["notes/ops/rail.md", scores.get("notes/ops/rail.md")],
    ]);
  });

  test("another language of a source indexes that source again, and nothing else", async () => {
    await indexBoth();
    expect(await found("Brücke")).toEqual(["lab/haus.md"]);
    const summary = await corpus.indexWith({ languages: { lab: "simple" } });
    expect(summary).toMatchObject({ changed: 2, unchanged: 2 });
    expect(await found("Brücke")).toEqual([]);
    expect(await found("brücken")).toEqual(["lab/haus.md"]);
    const { rows } = await database.db.query(
      "select distinct source, language from nightdesk.documents order by 1",
    );
    expect(rows).toEqual([
      { source: "lab", language: "simple" },
      { source: "ops", language: "english" },
    ]);
    expect(await countsAreTrue(database.db)).toBe(true);
    expect(await findIndexFaults(database.db)).toEqual(SOUND);
  });

  test("an explanation counts the words in the language of the passage", async () => {
    await indexBoth();
    const request = { text: "Züge fahren ERR_42", mode: "lexical", limit: 5 } as const;
    const passages = await corpus.search(request);
    const explanations = await explainHits(database.db, request, passages, SETTINGS);
    const explained = passages.map(({ path, chunkKey }) => [
      path,
      explanations.get(chunkKey)?.coverage === 1,
      explanations.get(chunkKey)?.missing,
    ]);
    expect(explained).toEqual([
      ["notes/lab/bahn.md", true, []],
      ["notes/ops/rail.md", false, expect.arrayContaining(["züge", "fahren"])],
    ]);
  });

  test("the database has every language that the configuration takes", async () => {
    const { rows } = await database.db.query(
      "select language, to_tsvector(language::regconfig, 'word') <> '' as splits from unnest($1::text[]) as language",
      [LANGUAGES],
    );
    expect(rows).toEqual(LANGUAGES.map((language) => ({ language, splits: true })));
  });
});
