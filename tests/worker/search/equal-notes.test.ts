import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { findIndexFaults } from "../../../src/shared/store/index/totals.ts";
import { SOUND } from "../../support/sound-index.ts";
import { openCorpus } from "../../support/test-corpus.ts";
import type { TestCorpus } from "../../support/test-corpus.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

const NOTE =
  "---\ntags: [rail]\n---\n# Brakes\n\nThe depot repairs brakes.\n\n## Prices\n\nA pad is 40.\n";

describe.each(ENGINES)("two sources with equal notes on $engine", ({ open }) => {
  let database: TestDatabase;
  let corpus: TestCorpus;

  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.db.query("delete from nightdesk_data.documents");
    corpus = await openCorpus(database.db);
    for (const source of ["ops", "lab"]) corpus.write(`notes/${source}/brakes.md`, NOTE);
    await corpus.index();
    await corpus.embed();
  });
  afterEach(() => {
    corpus.close();
  });

  const MODES = ["lexical", "vector", "hybrid"] as const;
  const found = (mode: (typeof MODES)[number], source?: string) =>
    corpus.search({
      text: "who repairs brakes",
      mode,
      ...(source === undefined ? {} : { source }),
    });
  const vectors = async () =>
    (
      await database.db.query(
        `select chunk_key, embedded_at::text from nightdesk_data.embeddings
           join nightdesk_data.chunks using (chunk_id) order by chunk_key`,
      )
    ).rows;

  test("each has its own chunks, keys and vectors", async () => {
    for (const mode of MODES) {
      const passages = await found(mode);
      expect(new Set(passages.map(({ source }) => source))).toEqual(new Set(["lab", "ops"]));
      expect(new Set(passages.map(({ chunkKey }) => chunkKey)).size).toBe(4);
    }
  });

  test.each([
    ["its file is gone", () => corpus.index({ pruneOfEmptyRoot: "allowed" })],
    [
      "its file is gone and the other's is rebuilt",
      () => corpus.index({ pruneOfEmptyRoot: "allowed", rebuild: true }),
    ],
  ])(
    "what is found in one is the same when the other was removed because %s",
    async (how, index) => {
      const before = Object.fromEntries(
        await Promise.all(MODES.map(async (mode) => [mode, await found(mode, "lab")] as const)),
      );
      const kept = (await vectors()).length / 2;
      corpus.remove("notes/ops/brakes.md");
      expect(await index()).toMatchObject({ removed: 1, documents_total: 1, chunks_total: 2 });
      if (how.includes("rebuilt")) await corpus.embed();
      expect(await vectors()).toHaveLength(kept);
      for (const mode of MODES) {
        const after = await found(mode);
        expect(after.map(({ chunkKey, text, path }) => ({ chunkKey, text, path }))).toEqual(
          before[mode]?.map(({ chunkKey, text, path }) => ({ chunkKey, text, path })),
        );
      }
      expect(await findIndexFaults(database.db)).toEqual(SOUND);
    },
  );

  test("one that goes takes no vector of the other, and makes none again", async () => {
    const before = (await vectors()) as { chunk_key: string }[];
    const own = new Set((await found("lexical", "lab")).map(({ chunkKey }) => chunkKey));
    corpus.remove("notes/ops/brakes.md");
    await corpus.index({ pruneOfEmptyRoot: "allowed" });
    await corpus.embed();
    expect(await vectors()).toEqual(before.filter(({ chunk_key }) => own.has(chunk_key)));
  });

  test("one that comes back has the keys that it had", async () => {
    const before = await found("lexical");
    corpus.remove("notes/ops/brakes.md");
    await corpus.index({ pruneOfEmptyRoot: "allowed" });
    corpus.write("notes/ops/brakes.md", NOTE);
    expect(await corpus.index()).toMatchObject({ added: 1, unchanged: 1 });
    expect(await found("lexical")).toEqual(before);
  });
});
