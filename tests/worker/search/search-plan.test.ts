import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Queryable } from "../../../src/shared/store/connection/database.ts";
import { findUnknownWords } from "../../../src/shared/store/index/question-words.ts";
import type { SearchFilter } from "../../../src/shared/store/index/search-filter.ts";
import { searchLexical } from "../../../src/shared/store/index/search-lexical.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";
import { planOf } from "../../support/plan-of.ts";

const TERMS = 8_000;
const SEGMENTS = 20;
const ALL: SearchFilter = { pathPrefix: undefined, source: undefined, limit: 200 };

// The planner thinks of a hundred terms for any question, and of a large index would read it all to join them.
describe.each(ENGINES)("with $engine and an index of many words", ({ open }) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await open();
    await database.db.query(
      `insert into nightdesk_data.postings (term, segment_id, entries)
       select 'word' || n, segment, array[(n::bigint << 24) | (1 << 14) | 9]
         from generate_series(1, ${SEGMENTS}) segment, generate_series(1, ${TERMS}) n`,
    );
    await database.db.query("analyze nightdesk_data.postings");
  }, 60_000);
  afterAll(() => database.close());

  test.each<[string, (db: Queryable) => Promise<unknown>]>([
    ["a question", (db) => searchLexical(db, { text: "the word7 of word8" }, ALL)],
    ["a prefix", (db) => searchLexical(db, { text: "word7", prefixes: ["word8"] }, ALL)],
    [
      "a filter",
      (db) =>
        searchLexical(db, { text: "word7" }, { ...ALL, source: "notes", phrases: ["word8 word9"] }),
    ],
    ["mending", (db) => findUnknownWords(db, "wordd worde")],
  ])("%s looks its terms up", async (_, run) => {
    const plan = await planOf(database.db, run);
    expect(plan).toContain("postings_pkey");
    expect(plan).not.toMatch(/Seq Scan on postings/);
  });

  // It takes what a filter passes for one row, and would compare each posting with each of ten thousand.
  test("no posting is joined with the chunks that a filter passes, or with candidates", async () => {
    const plan = await planOf(database.db, (db) =>
      searchLexical(db, { text: "word7 word8" }, { ...ALL, pathPrefix: "notes/" }),
    );
    expect(plan).toMatch(/hashed SubPlan/);
    expect(plan).not.toMatch(/= (allowed|candidates)\w*\.chunk_id/);
  });
});
