import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { openCorpus } from "../../support/test-corpus.ts";
import type { TestCorpus } from "../../support/test-corpus.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

describe.each(ENGINES)("search on $engine", ({ open }) => {
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

  const paths = async (request: Parameters<TestCorpus["search"]>[0]) =>
    (await corpus.search(request)).map(({ path }) => path);

  test("gives a passage with all that proves where it is from", async () => {
    corpus.write(
      "notes/ops/rail.md",
      "---\ntitle: Trip\n---\nIntro.\n\n## Train\n\nBy the express.\n",
    );
    await corpus.index();
    await corpus.embed();
    const [passage] = await corpus.search({ text: "express trains", mode: "hybrid" });
    expect(passage).toEqual({
      chunkKey: expect.stringMatching(/^[0-9a-f]{32}$/),
      source: "ops",
      path: "notes/ops/rail.md",
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      extractor: "utf-8",
      docChars: 54,
      truncated: true,
      headingPath: "Train",
      locator: null,
      title: "Trip",
      startChar: 28,
      endChar: 53,
      lineStart: 6,
      lineEnd: 8,
      text: "## Train\n\nBy the express.",
      score: expect.closeTo(1.02 / 61),
      leftOut: {},
      lexicalRank: 1,
      vectorRank: 1,
      lexicalScore: expect.any(Number),
      borrowedScore: 0,
      vectorScore: expect.any(Number),
    });
  });

  test.each([
    ["is a whole document but for the line break at its end", "An oxbow.\n", false],
    ["is a whole document between blank lines", "\n\nAn oxbow.\r\n\r\n", false],
    ["is behind frontmatter", "---\ntitle: Rivers\n---\nAn oxbow.\n", true],
    ["has others beside it", "# Bends\n\nAn oxbow.\n\n# Falls\n\nA cascade.\n", true],
  ])("a passage that %s: truncated is told of text alone", async (_, text, truncated) => {
    corpus.write("notes/ops/oxbow.md", text);
    await corpus.index();
    const [passage] = await corpus.search({ text: "oxbow" });
    expect(passage).toMatchObject({ path: "notes/ops/oxbow.md", truncated });
  });

  test("scores are those of the formula", async () => {
    corpus.write("notes/ops/a.txt", "red blue");
    corpus.write("notes/ops/b.txt", "blue blue green");
    await corpus.index();
    // Words: red, blue and a.txt; blue, green, b and b.txt (a is a stop word). N = 2, mean length 3.5.
    const [first, second] = await corpus.search({ text: "blue" });
    const bm25 = (times: number, words: number) =>
      (Math.log(1 + 0.5 / 2.5) ** 1.25 * times * 2.2) / (times + 1.2 * (0.3 + (0.7 * words) / 3.5));
    expect([first?.path, second?.path]).toEqual(["notes/ops/b.txt", "notes/ops/a.txt"]);
    expect(first?.score).toBeCloseTo(bm25(2, 4), 8);
    expect(second?.score).toBeCloseTo(bm25(1, 3), 8);
  });

  test.each([
    ["a word in another form", "indexing"],
    ["the title of the file", "handbook"],
    ["a heading above", "storage"],
    ["the file name", "runbook_v2.md"],
    ["a part of the file name", "runbook"],
    ["an error code", "ERR_42"],
    ["a file name in the text", "foo_bar.ts"],
    ["a part of a path in the text", "worker"],
    ["words in any order among stop words", "what is the one of the index"],
  ])("finds %s", async (_name, text) => {
    corpus.write(
      "notes/ops/runbook_v2.md",
      "# Handbook\n\n## Storage\n\n### Errors\n\nIndexes raise ERR_42 in src/worker/foo_bar.ts.\n",
    );
    corpus.write("notes/ops/other.md", "# Other\n\nNothing of that: ERR and 42, foo, bar.\n");
    await corpus.index();
    expect((await paths({ text }))[0]).toBe("notes/ops/runbook_v2.md");
  });

  test("a heading-only note is found", async () => {
    corpus.write("notes/ops/todo.md", "# Renew the certificate\n");
    await corpus.index();
    expect(await paths({ text: "certificates" })).toEqual(["notes/ops/todo.md"]);
  });

  test.each(["lexical", "vector", "hybrid"] as const)(
    "path and source are applied inside the %s search, not to what it found",
    async (mode) => {
      for (let at = 0; at < 120; at += 1) corpus.write(`notes/ops/${at}.md`, "same words\n");
      corpus.write("notes/lab/a_b/one.md", "same words, and many others that make it worse\n");
      corpus.write("notes/lab/aXb/two.md", "same words, and many others that make it worse\n");
      await corpus.index();
      await corpus.embed();
      const request = { text: "same words", mode };
      expect(await paths({ ...request, source: "lab" })).toHaveLength(2);
      expect(await paths({ ...request, pathPrefix: "notes/lab/a_b" })).toEqual([
        "notes/lab/a_b/one.md",
      ]);
      expect(await paths({ ...request, pathPrefix: "notes/lab/", source: "ops" })).toEqual([]);
    },
  );

  test("equal scores are ordered by key, and a document gives no more than its share", async () => {
    corpus.write("notes/ops/a.md", "# Same\nword\n".repeat(9));
    corpus.write("notes/lab/a.md", "# Same\nword\n".repeat(9));
    await corpus.index();
    const found = await corpus.search({ text: "word", limit: 100 }, { perDocument: 4 });
    expect(found.map(({ source }) => source).sort()).toEqual([
      ...Array<string>(4).fill("lab"),
      ...Array<string>(4).fill("ops"),
    ]);
    const keys = found.map(({ chunkKey }) => chunkKey);
    expect(keys).toEqual(keys.toSorted());
    expect(await corpus.search({ text: "word", limit: 3 })).toEqual(found.slice(0, 3));
  });

  test("says of a passage that came by its vector alone that no word of the question is in it", async () => {
    corpus.write("notes/ops/a.md", "# Certificates\n\nRenewal.\n");
    await corpus.index();
    await corpus.embed();
    const request = { text: "certifcate", mode: "hybrid" } as const;
    expect(await corpus.search({ ...request, spelling: "as written" })).toMatchObject([
      { lexicalRank: null, lexicalScore: null, vectorRank: 1 },
    ]);
    expect(await corpus.search(request)).toMatchObject([{ lexicalRank: 1, vectorRank: 1 }]);
    expect(await corpus.search({ text: "certifcate" })).toEqual([]);
  });

  test("a chunk without a word is near to nothing, and no fault", async () => {
    corpus.write("notes/ops/a.md", "word\n");
    corpus.write("notes/ops/b.md", "\u0301 ...\n");
    await corpus.index();
    await corpus.embed();
    expect(await paths({ text: "word", mode: "vector" })).toEqual(["notes/ops/a.md"]);
  });

  test("vectors that are equal are ordered by key, also across the limit", async () => {
    for (let at = 0; at < 150; at += 1) corpus.write(`notes/ops/${at}.md`, "same\n");
    await corpus.index();
    await corpus.embed();
    const keys = async (limit: number) =>
      (await corpus.search({ text: "same", mode: "vector", limit })).map(
        ({ chunkKey }) => chunkKey,
      );
    const all = await keys(200);
    expect(all).toHaveLength(150);
    expect(all).toEqual(all.toSorted());
    expect(await keys(10)).toEqual(all.slice(0, 10));
  });

  test("below the floor nothing is a match", async () => {
    corpus.write("notes/ops/a.md", "# A\n\nword\n");
    await corpus.index();
    const found = (text: string, floor: number) => corpus.search({ text }, { floor });
    expect(await found("word", 1)).toHaveLength(1);
    expect(await found("word beside several others", 0.05)).toHaveLength(1);
    expect(await found("word beside several others", 0.5)).toEqual([]);
  });

  test("a chunk borrows from its neighbours when it is told to", async () => {
    const words = (count: number) => Array.from({ length: count }, (_, at) => `w${at}`).join(" ");
    corpus.write("notes/ops/alone.md", `# X\nkey ${words(10)}\n`);
    corpus.write("notes/ops/among.md", `# X\nkey ${words(14)}\n`.repeat(3));
    await corpus.index();
    const first = async (neighbourWeight: number) =>
      (await corpus.search({ text: "key" }, { neighbourWeight }))[0]?.path;
    expect(await first(0)).toBe("notes/ops/alone.md");
    expect(await first(0.5)).toBe("notes/ops/among.md");
  });

  test.each(["", " \n\t"])("a blank text (%j) is refused", async (text) => {
    await expect(corpus.search({ text })).rejects.toMatchObject({ code: "INVALID_QUERY" });
  });

  test.each(["'", "a' | 'b", "!!! & <->", "the of and", "\\", "%_", "💥"])(
    "the text %j is never syntax",
    async (text) => {
      corpus.write("notes/ops/a.md", "# A\n\nword\n");
      await corpus.index();
      await corpus.embed();
      for (const mode of ["lexical", "vector", "hybrid"] as const) {
        await expect(corpus.search({ text, mode })).resolves.toBeInstanceOf(Array);
      }
    },
  );

  test("an empty index has no answer", async () => {
    expect(await corpus.search({ text: "anything", mode: "hybrid" })).toEqual([]);
  });
});
