import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { editDistance } from "../../../src/shared/text/close-names.ts";
import { findCorrections, isNearInSpelling } from "../../../src/worker/search/search.ts";
import type { SearchRequest } from "../../../src/worker/search/search.ts";
import { openCorpus } from "../../support/test-corpus.ts";
import type { TestCorpus } from "../../support/test-corpus.ts";
import { describeOnPostgres, ENGINES, openPostgres } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

type Asked = { readonly text: string; readonly note: string };
type SpellingSet = {
  readonly notes: readonly {
    readonly name: string;
    readonly title: string;
    readonly text: string;
  }[];
  /** Names and words with typing errors, compounds in two words, two words in one. */
  readonly misspelt: readonly Asked[];
  readonly exact: readonly Asked[];
};
const set = JSON.parse(
  readFileSync(new URL("spelling-set.json", import.meta.url), "utf8"),
) as SpellingSet;
const FOUND_AT = 5;

async function openNotes({ db }: TestDatabase): Promise<TestCorpus> {
  const corpus = await openCorpus(db);
  for (const [at, { title, text }] of set.notes.entries()) {
    corpus.write(`notes/ops/${at}.md`, `# ${title}\n\n${text}\n`);
  }
  await corpus.index();
  await corpus.embed();
  return corpus;
}

describeOnPostgres("recall", () => {
  let database: TestDatabase;
  let corpus: TestCorpus;

  beforeAll(async () => {
    database = await openPostgres();
    corpus = await openNotes(database);
  }, 30_000);
  afterAll(async () => {
    corpus.close();
    await database.close();
  });

  /** Share of the questions whose note is among the first five. */
  async function recall(questions: readonly Asked[], mode: SearchRequest["mode"]): Promise<number> {
    const found = await Promise.all(
      questions.map(async ({ text, note }) => {
        const passages = await corpus.search({ text, mode, limit: FOUND_AT });
        const path = `notes/ops/${set.notes.findIndex(({ name }) => name === note)}.md`;
        return passages.some((passage) => passage.path === path);
      }),
    );
    return found.filter(Boolean).length / questions.length;
  }

  test("hybrid search finds what is misspelt or compounded, where the words alone do not", async () => {
    const words = await recall(set.misspelt, "lexical");
    const vectors = await recall(set.misspelt, "vector");
    expect(words).toBeLessThan(0.82);
    expect(vectors).toBeGreaterThan(0.9);
    expect(await recall(set.misspelt, "hybrid")).toBeGreaterThan(0.97);
  });

  test("hybrid search loses nothing that is spelt right", async () => {
    const words = await recall(set.exact, "lexical");
    expect(await recall(set.exact, "hybrid")).toBeGreaterThanOrEqual(words - 0.005);
    expect(words).toBe(1);
  });
});

describe.each(ENGINES)("spelling on $engine", ({ open }) => {
  let database: TestDatabase;
  let corpus: TestCorpus;

  beforeAll(async () => {
    database = await open();
    corpus = await openNotes(database);
  }, 30_000);
  afterAll(async () => {
    corpus.close();
    await database.close();
  });

  test.each(["zzzzqqq", "What about zzzzqqq?", "xylograph quux"])(
    "%s is near to nothing",
    async (text) => {
      expect(await corpus.search({ text, mode: "hybrid" })).toEqual([]);
      expect(await corpus.search({ text, mode: "vector" })).not.toEqual([]);
    },
  );

  test("a word that the index knows is taken as it is written", async () => {
    const best = async (mode: SearchRequest["mode"]) =>
      (await corpus.search({ text: "valve", mode })).filter(
        ({ lexicalScore }) => lexicalScore !== null,
      );
    expect((await best("hybrid")).map(({ path, lexicalScore }) => [path, lexicalScore])).toEqual(
      (await best("lexical")).map(({ path, lexicalScore }) => [path, lexicalScore]),
    );
  });

  test.each([
    ["grafanna", [{ word: "grafanna", searchedFor: ["grafana"] }]],
    ["the valve of Grafanna", [{ word: "Grafanna", searchedFor: ["grafana"] }]],
    ["grafana", []],
    ["thermostats and valves", []],
    ["zzzzqqq", []],
    ["黑豹队的防守丢了多少分", []],
  ])("%s is searched with the corrections %j", async (text, expected) => {
    expect(await findCorrections(database.db, { text })).toEqual(expected);
  });

  test("the beginning of a word is not corrected", async () => {
    const asked = { text: "grafann", prefixes: ["grafann"] };
    expect(await findCorrections(database.db, asked)).toEqual([]);
  });

  test("a word with other accents is the same, and no correction", async () => {
    corpus.write("notes/lab/cafe.md", "Das Café schließt um zehn. A safe place.\n");
    await corpus.index();
    for (const text of ["cafe", "schliesst"]) {
      const found = await corpus.search({ text, mode: "hybrid" });
      const byWords = found.filter(({ lexicalScore }) => lexicalScore !== null);
      expect(byWords.map(({ path }) => path)).toEqual(["notes/lab/cafe.md"]);
      expect(await findCorrections(database.db, { text })).toEqual([]);
    }
    corpus.remove("notes/lab/cafe.md");
    await corpus.index({ pruneOfEmptyRoot: "allowed" });
  });

  test("a word whose last note is gone is unknown again", async () => {
    const find = async () =>
      (await corpus.search({ text: "grafanna", mode: "hybrid" })).flatMap(
        ({ path, lexicalScore }) => (lexicalScore === null ? [] : [path]),
      );
    const before = await find();
    corpus.write("notes/lab/typo.md", "grafanna\n");
    await corpus.index();
    expect(await find()).toEqual(["notes/lab/typo.md"]);
    corpus.remove("notes/lab/typo.md");
    await corpus.index({ pruneOfEmptyRoot: "allowed" });
    expect(await find()).toEqual(before);
  });
});

test.each([
  ["kubernetes", "kuberntes", 2, 1],
  ["receipt", "reciept", 2, 1],
  ["ab", "ba", 1, 1],
  ["kitten", "sitting", 3, 3],
  ["kitten", "sitting", 2, 3],
  ["", "abc", 2, 3],
  ["🐐oat", "goat", 1, 1],
])("%s is as far from %s as it should be, up to %d", (left, right, most, expected) => {
  expect(editDistance(left, right, most)).toBe(expected);
  expect(editDistance(right, left, most)).toBe(expected);
});

test.each([
  ["kuberntes", "We upgrade Kubernetes.", true],
  ["Bahn", "Die Autobahn ist frei.", true],
  ["Verbindung", "Die Datenbankverbindung bricht.", true],
  ["zzzzqqq", "pizzazz", false],
  ["what about this", "What about this", false],
])("%s beside %s", (question, text, expected) => {
  expect(isNearInSpelling(question, text)).toBe(expected);
});
