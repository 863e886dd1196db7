import { utimesSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { SearchRequest } from "../../../src/worker/search/search.ts";
import { openCorpus } from "../../support/test-corpus.ts";
import type { TestCorpus } from "../../support/test-corpus.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

describe.each(ENGINES)("filters on $engine", ({ open }) => {
  let database: TestDatabase;
  let corpus: TestCorpus;

  beforeAll(async () => {
    database = await open();
    await database.db.query("delete from nightdesk_data.documents");
    corpus = await openCorpus(database.db);
    for (const [name, frontmatter] of Object.entries(NOTES)) {
      corpus.write(`notes/ops/${name}.md`, `---\n${frontmatter}\n---\nThe same words.\n`);
    }
    corpus.write("notes/ops/plain.md", "The same words.\n");
    const day = new Date("2024-05-01T12:00:00Z");
    utimesSync(join(corpus.workroot, "notes/ops/plain.md"), day, day);
    for (let at = 0; at < 120; at += 1) corpus.write(`notes/lab/${at}.md`, "Same words\n");
    await corpus.index();
    await corpus.embed();
  });
  afterAll(async () => {
    corpus.close();
    await database.close();
  });

  const NOTES = {
    list: "tags: [Ops, rail]\ndate: 2024-03-01\npriority: 2",
    words: 'tags: "#ops, night"\ndate: 2023-12-31',
    scalar: "tag: ops\narea: Kitchen\nupdated: 2025-01-01",
    other: "tags: [lab]\ndraft: true\ndate: 2024-02-31",
  };
  const names = async (request: Partial<SearchRequest>, mode: SearchRequest["mode"]) =>
    (await corpus.search({ text: "same words", mode, source: "ops", ...request }))
      .map(({ path }) => path.replace(/^notes\/ops\/|\.md$/g, ""))
      .sort();

  const where = (...pairs: string[]) => ({
    where: pairs.map((pair) => {
      const [key = "", value = ""] = pair.split("=");
      return { key, value };
    }),
  });

  describe.each(["lexical", "vector", "hybrid"] as const)("inside the %s search", (mode) => {
    test.each([
      ["a tag of a list, a string or a scalar", where("tag=ops"), ["list", "scalar", "words"]],
      ["another name of the key, and any case", where("Tags=OPS"), ["list", "scalar", "words"]],
      ["all conditions together", where("tag=ops", "tag=rail"), ["list"]],
      ["conditions on several keys", where("tag=ops", "area=kitchen"), ["scalar"]],
      ["a number", where("priority=2"), ["list"]],
      ["a truth value", where("draft=true"), ["other"]],
      ["what no document has", where("tag=none"), []],
      ["a key that each object of JavaScript has", where("constructor=ops", "__proto__=ops"), []],
      ["what is no part of a value", where("tag=op"), []],
    ])("%s", async (_name, request, expected) => {
      expect(await names(request, mode)).toEqual(expected);
    });

    test("days are those of the frontmatter, or else of the last change", async () => {
      const inOps = { pathPrefix: "notes/ops/" };
      expect(await names({ ...inOps, since: "2024-03-01", until: "2024-12-31" }, mode)).toEqual([
        "list",
        "plain",
      ]);
      expect(await names({ ...inOps, until: "2023-12-31" }, mode)).toEqual(["words"]);
      expect(await names({ since: "2024-05-02", until: "2025-01-01" }, mode)).toEqual(["scalar"]);
    });

    test("a phrase of a word that is repeated is no word alone", async () => {
      expect(await names({ phrases: ["the words"] }, mode)).toHaveLength(5);
      expect(await names({ phrases: ["words words"] }, mode)).toEqual([]);
    });

    test("a filter of a few documents among many leaves none of them out", async () => {
      const request = { source: undefined, ...where("tag=ops") };
      expect(await names(request, mode)).toEqual(["list", "scalar", "words"]);
    });

    test.each(["{", '{"source":1}', "%", "'"])("a value like %s is never syntax", async (value) => {
      expect(await names(where(`tag=${value}`), mode)).toEqual([]);
      expect(await names({ source: "ops", pathPrefix: value }, mode)).toEqual([]);
    });
  });
});
