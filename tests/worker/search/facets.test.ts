import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Database } from "../../../src/shared/store/connection/database.ts";
import { openCorpus } from "../../support/test-corpus.ts";
import { describeOnPostgres, openPostgres } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

describeOnPostgres("what documents can be filtered by", () => {
  let database: TestDatabase;
  let db: Database;
  beforeAll(async () => {
    database = await openPostgres();
    db = database.db;
  });
  afterAll(() => database.close());

  const facetsOf = async (metadata: unknown) => {
    const { rows } = await db.query("select nightdesk_data.facets_of($1::jsonb) as facets", [
      JSON.stringify(metadata),
    ]);
    return rows[0] as { facets: unknown };
  };

  test.each([
    ["a list of tags", { tags: ["Ops", "#rail "] }, { tag: ["ops", "rail"] }],
    ["a string of tags", { tags: "Ops, #rail night" }, { tag: ["night", "ops", "rail"] }],
    [
      "a tag beside tags and keywords",
      { tag: "a", tags: ["b"], keywords: ["A"] },
      { tag: ["a", "b"] },
    ],
    ["an alias of several words", { aliases: ["Daily Standup"] }, { alias: ["daily standup"] }],
    ["numbers and truths", { Priority: 3, done: true }, { priority: ["3"], done: ["true"] }],
    ["mappings, nulls and blanks", { a: { b: 1 }, c: null, d: " ", e: [[1]] }, {}],
    ["more of a list than anybody writes", { x: Array(200).fill("y") }, { x: ["y"] }],
    ["nothing", {}, {}],
  ])("%s", async (_name, metadata, facets) => {
    expect((await facetsOf(metadata)).facets).toEqual(facets);
  });

  test("are those of the frontmatter that was indexed, found by the index, and gone with it", async () => {
    const corpus = await openCorpus(db);
    corpus.write("notes/ops/a.md", "---\ntags: [Ops]\ndate: 2024-05-01\n---\ntext\n");
    corpus.write("notes/ops/b.md", "text\n");
    await corpus.index();
    const found = async () =>
      (
        await db.query(
          `select path, day::text from nightdesk_data.documents where facets @> '{"tag": ["ops"]}'`,
        )
      ).rows;
    expect(await found()).toEqual([{ path: "notes/ops/a.md", day: "2024-05-01" }]);
    corpus.write("notes/ops/a.md", "---\ntags: [Other]\n---\ntext\n");
    await corpus.index();
    expect(await found()).toEqual([]);
    corpus.close();
  });
});
