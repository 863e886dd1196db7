import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { LANGUAGES } from "../../../src/shared/text/language.ts";
import { findIndexFaults } from "../../../src/shared/store/index/totals.ts";
import { explainHits } from "../../../src/worker/search/explain-hits.ts";
import { parseOperators } from "../../../src/worker/search/parse-operators.ts";
import { openCorpus, SETTINGS } from "../../support/test-corpus.ts";
import type { TestCorpus } from "../../support/test-corpus.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";
import { countsAreTrue } from "../../support/counts-are-true.ts";
import { SOUND } from "../../support/sound-index.ts";

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
    (await corpus.search(parseOperators(text)))
      .map(({ path }) => path.replace("notes/", ""))
      .sort();

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

  test("a stop word of one language does not lead to a document of another that happens to hold it", async () => {
    for (let at = 0; at < 20; at += 1) {
      corpus.write(
        `notes/ops/n${at}.md`,
        `The soup of day ${at} is hot, and the bread is fresh.\n`,
      );
    }
    corpus.write("notes/ops/dice.md", "Roll the die, and wann for an unknown reason.\n");
    corpus.write("notes/lab/klempner.md", "Die Klempnerin kommt am Montag um neun.\n");
    corpus.write("notes/lab/haus.md", "Die Häuser der Stadt sind alt.\n");
    await corpus.indexWith(GERMAN);
    const [first] = await corpus.search({ text: "Wann kommt die Klempnerin?" });
    expect(first?.path).toBe("notes/lab/klempner.md");
  });

  test("a word counts the same in each language, by all chunks that hold it", async () => {
    await indexBoth();
    const ofBoth = await corpus.search({ text: "ERR_42" });
    const explanations = await explainHits(
      database.db,
      { text: "ERR_42", mode: "lexical", limit: 5 },
      ofBoth,
      SETTINGS,
    );
    const weights = ofBoth.map(({ chunkKey }) =>
      explanations.get(chunkKey)?.terms.map(({ term }) => term),
    );
    expect(weights[0]).toEqual(weights[1]);
    const bm25 = (at: number) => ofBoth[at]?.score ?? Number.NaN;
    // Only the lengths of the chunks make a difference.
    expect(bm25(0) / bm25(1)).toBeLessThan(1.3);
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

  describe("of a document", () => {
    const ENGLISH =
      "The houses are near to the river, and all of them were built when it was dry.\n";
    const DEUTSCH = "Die Häuser sind nicht weit von der Stadt, und wir haben sie im Mai gesehen.\n";
    const ESPANOL = "Las casas están cerca del río, y todos los vecinos que son de aquí las ven.\n";
    const AUTO = { languages: { ops: "auto", lab: "german" } } as const;

    const languages = async () => {
      const { rows } = await database.db.query(
        "select path, language from nightdesk.documents order by path",
      );
      return Object.fromEntries(
        (rows as { path: string; language: string }[]).map(({ path, language }) => [
          path.replace("notes/", ""),
          language,
        ]),
      );
    };
    const indexMixed = async () => {
      corpus.write("notes/ops/a.md", ENGLISH);
      corpus.write("notes/ops/b.md", DEUTSCH);
      corpus.write("notes/ops/c.md", ESPANOL);
      corpus.write("notes/ops/d.md", "17 20 33\n");
      corpus.write("notes/ops/e.bin.md", Buffer.from([0, 1, 2, 3]));
      corpus.write("notes/lab/f.md", ENGLISH);
      return corpus.indexWith(AUTO);
    };

    test("is told document by document, unless its source names one", async () => {
      expect(await indexMixed()).toMatchObject({ documents_seen: 6, added: 5, failed: 1 });
      expect(await languages()).toEqual({
        "ops/a.md": "english",
        "ops/b.md": "german",
        "ops/c.md": "spanish",
        "ops/d.md": "english",
        "lab/f.md": "german",
      });
      expect(await found("Haus")).toEqual(["ops/b.md"]);
      expect(await found("casa vecino")).toEqual(["ops/c.md"]);
      expect(await found("house")).toContain("ops/a.md");
      expect(await findIndexFaults(database.db)).toEqual(SOUND);
      expect(await corpus.indexWith(AUTO)).toMatchObject({ added: 0, changed: 0 });
    });

    test("may become another one with the document, whose words are then all indexed again", async () => {
      const section = "\n## ERR_42\n\nHäuser und houses.\n";
      corpus.write("notes/ops/a.md", `# A\n\n${ENGLISH}${section}`);
      await corpus.indexWith(AUTO);
      expect(await found("Haus")).toEqual([]);
      corpus.write("notes/ops/a.md", `# A\n\n${DEUTSCH.repeat(2)}${section}`);
      expect(await corpus.indexWith(AUTO)).toMatchObject({ changed: 1 });
      expect(await languages()).toEqual({ "ops/a.md": "german" });
      expect(await found("Haus")).toHaveLength(2);
      expect(await countsAreTrue(database.db)).toBe(true);
      expect(await findIndexFaults(database.db)).toEqual(SOUND);
    });
  });

  test.each(["german", "english", "simple"] as const)(
    "Straße and strasse find each other in %s, and a stage is neither",
    async (language) => {
      corpus.write("notes/lab/a.md", "Die Straße ist gesperrt.\n");
      corpus.write("notes/lab/b.md", "Die Strasse ist frei, STRAẞE auch.\n");
      corpus.write("notes/lab/c.md", "Eine stage, eine Strafe.\n");
      await corpus.indexWith({ languages: { lab: language } });
      const both = ["lab/a.md", "lab/b.md"];
      for (const text of ["Straße", "strasse", "STRASSE", "straß*", '"Straße ist"']) {
        expect([text, await found(text)]).toEqual([text, both]);
      }
      expect(await found("gesperrt frei Strafe -strasse")).toEqual(["lab/c.md"]);
      const paths = (await corpus.search({ text: "Straße", mode: "hybrid" })).map(
        ({ path }) => path,
      );
      expect(paths.sort()).toEqual(both.map((path) => `notes/${path}`));
      const [best] = await corpus.search({ text: "strasse" }, { feedback: "rm3" });
      expect(best?.path).toMatch(/[ab]\.md$/);
    },
  );

  test("the database has every language that the configuration takes", async () => {
    const { rows } = await database.db.query(
      "select language, to_tsvector(language::regconfig, 'word') <> '' as splits from unnest($1::text[]) as language",
      [LANGUAGES],
    );
    expect(rows).toEqual(LANGUAGES.map((language) => ({ language, splits: true })));
  });
});
