import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { LexicalHit, SearchFilter } from "../../../src/shared/store/index/search-filter.ts";
import { searchLexical } from "../../../src/shared/store/index/search-lexical.ts";
import { openCorpus } from "../../support/test-corpus.ts";
import type { TestCorpus } from "../../support/test-corpus.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

const FILES = 30;
const SECTIONS = 50;
const LIMIT = 20;
const EVERYTHING = FILES * SECTIONS;
const QUESTION = "common word7 word11 seldom";
const NO_FILTER = { pathPrefix: undefined, source: undefined };
const EVERY_POSTING = 1_000_000;
const FEW_POSTINGS = 20;

/** Passes as a condition on the number of a file. */
const FILTERS: readonly (readonly [string, Partial<SearchFilter>, (file: number) => boolean])[] = [
  ["a folder of a third", { pathPrefix: "notes/lab/" }, (file) => file % 3 === 0],
  ["a source of two thirds", { source: "ops" }, (file) => file % 3 !== 0],
  ["a tag of a tenth", { where: [{ key: "tag", value: "tenth" }] }, (file) => file % 10 === 0],
  ["all but one", { excluded: ["zebra"] }, (file) => file !== 4],
  ["what begins so", { pathPrefix: "notes/" }, () => true],
  ["a phrase of one", { phrases: ["zebra crossing"] }, (file) => file === 4],
  ["nothing", { since: "2999-01-01" }, () => false],
];

describe.each(ENGINES)("words behind a filter on $engine", ({ open }) => {
  let database: TestDatabase;
  let corpus: TestCorpus;

  beforeAll(async () => {
    database = await open();
    corpus = await openCorpus(database.db);
    for (let file = 0; file < FILES; file += 1)
      corpus.write(`notes/${file % 3 === 0 ? "lab" : "ops"}/${file}.md`, textOf(file));
    await corpus.index();
  }, 120_000);
  afterAll(async () => {
    corpus.close();
    await database.close();
  });

  const find = (
    filter: SearchFilter,
    listed: number,
    scored = EVERY_POSTING,
  ): Promise<LexicalHit[]> =>
    searchLexical(database.db, { text: QUESTION }, filter, { scored, read: EVERY_POSTING, listed });

  // Of as many as are asked, with 0 none pass, and with 100 too few of a tenth to know the best.
  describe.each([0, 100, 1_300, 1_000_000])("of which %d chunks are listed", (listed) => {
    test.each(FILTERS)("%s gives the hits that it passes of all", async (_, filter, passes) => {
      const all = await find({ ...NO_FILTER, limit: EVERYTHING }, 0);
      expect(all).toHaveLength(EVERYTHING);
      const expected = (await passing(all, passes)).slice(0, LIMIT);
      expect(await find({ ...NO_FILTER, ...filter, limit: LIMIT }, listed)).toEqual(expected);
    });
  });

  // Two words have more than so many postings in two thirds of the chunks, as in all.
  describe.each([1_300, 1_000_000])("of which %d are listed, and few are scored", (listed) => {
    const most = FILTERS.filter(([name]) => /two thirds|all but one|begins so/.test(name));
    test.each(most)("%s gives the hits that it passes of all", async (_, filter, passes) => {
      const all = await find({ ...NO_FILTER, limit: EVERYTHING }, 0, FEW_POSTINGS);
      expect(all.length).toBeLessThan(EVERYTHING);
      const expected = (await passing(all, passes)).slice(0, LIMIT);
      expect(expected).toHaveLength(LIMIT);
      const found = await find({ ...NO_FILTER, ...filter, limit: LIMIT }, listed, FEW_POSTINGS);
      expect(found).toEqual(expected);
    });
  });

  const passing = async (
    hits: readonly LexicalHit[],
    passes: (file: number) => boolean,
  ): Promise<LexicalHit[]> => {
    const documents = await passingDocuments(passes);
    return hits.filter(({ docId }) => documents.has(docId));
  };
  const passingDocuments = async (
    passes: (file: number) => boolean,
  ): Promise<ReadonlySet<string>> => {
    const { rows } = await database.db.query(
      "select doc_id::text, substring(path from '(\\d+)\\.md$')::integer as file from nightdesk_data.documents",
    );
    return new Set(
      (rows as { doc_id: string; file: number }[])
        .filter(({ file }) => passes(file))
        .map(({ doc_id: docId }) => docId),
    );
  };
});

/** Each section is a chunk of its own, because two of them are too long for one. */
function textOf(file: number): string {
  const tags = file % 10 === 0 ? "---\ntags: [tenth]\n---\n" : "";
  const sections = Array.from({ length: SECTIONS }, (_, section) => {
    const at = file * SECTIONS + section;
    const rare = at % 97 === 0 ? " seldom" : "";
    return `## Part ${section}\n\n${`common word${at % 13} word${at % 29} filler${rare} `.repeat(6)}`;
  });
  const once = file === 4 ? " zebra crossing" : "";
  return `${tags}${sections.map((section) => section + once).join("\n\n")}\n`;
}
