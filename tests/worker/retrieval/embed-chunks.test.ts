import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Embedder } from "../../../src/worker/embedder/embedder.ts";
import { createHashingEmbedder } from "../../../src/worker/embedder/hashing.ts";
import { embedChunks, type EmbedOptions } from "../../../src/worker/retrieval/embed-chunks.ts";
import { ENGINES, type TestDatabase } from "../../shared/db/index/test-databases.ts";
import { openCorpus, type TestCorpus } from "./test-corpus.ts";

describe.each(ENGINES)("embedding on $engine", ({ open }) => {
  let database: TestDatabase;
  let corpus: TestCorpus;

  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.db.query("delete from nightdesk_data.documents");
    corpus = await openCorpus(database.db);
    for (let at = 0; at < 10; at += 1) corpus.write(`notes/ops/${at}.md`, `# Note ${at}\n`);
    await corpus.index();
  });
  afterEach(() => {
    corpus.close();
  });

  const embed = (
    options: Partial<EmbedOptions> = {},
    embedder: Embedder = createHashingEmbedder(),
  ) =>
    embedChunks(
      { db: database.db, embedder },
      {
        rebuild: false,
        dryRun: false,
        batchSize: 3,
        signal: new AbortController().signal,
        onProgress: () => undefined,
        ...options,
      },
    );
  const anotherBuild: Embedder = { ...createHashingEmbedder(), signature: "0".repeat(32) };

  test("gives every chunk a vector, and nothing to do the second time", async () => {
    expect(await embed()).toMatchObject({
      chunks_total: 10,
      embedded: 10,
      skipped: 0,
      missing: 0,
      dims: 384,
      model: "hashing-384",
    });
    expect(await embed()).toMatchObject({ embedded: 0, skipped: 10, missing: 0, outdated: 0 });
  });

  test("a limit leaves the vectors that are there", async () => {
    await embed({ limit: 4 });
    expect(await embed({ limit: 2 })).toMatchObject({ embedded: 2, skipped: 4, missing: 4 });
  });

  test("a dry run only counts", async () => {
    expect(await embed({ dryRun: true })).toMatchObject({ embedded: 0, missing: 10 });
  });

  test("what was committed stays when it is interrupted, and the next run goes on", async () => {
    const controller = new AbortController();
    const onProgress = (embedded: number, due: number) => {
      expect(due).toBe(10);
      if (embedded === 6) controller.abort(new Error("stop"));
    };
    await expect(embed({ signal: controller.signal, onProgress })).rejects.toThrow("stop");
    expect(await embed()).toMatchObject({ embedded: 4, skipped: 6, missing: 0 });
  });

  test("vectors of another build are not mixed with: drift names the command that redoes them", async () => {
    await embed();
    await expect(embed({}, anotherBuild)).rejects.toMatchObject({
      code: "EMBED_DRIFT",
      message: expect.stringContaining("nightdesk embed --rebuild"),
    });
    expect(await embed({ rebuild: true, limit: 3 }, anotherBuild)).toMatchObject({
      embedded: 3,
      outdated: 7,
    });
    expect(await embed({ rebuild: true }, anotherBuild)).toMatchObject({
      embedded: 10,
      outdated: 0,
    });
    expect(await corpus.search({ text: "note 3", mode: "vector" })).toEqual([]);
  });

  test("a model's vectors stand beside those of another", async () => {
    await embed();
    expect(await embed({}, { ...anotherBuild, id: "other" })).toMatchObject({ embedded: 10 });
    expect(await embed()).toMatchObject({ skipped: 10, outdated: 0 });
  });

  test("an embedder that gives too few vectors is a fault, and nothing is stored", async () => {
    const forgetful: Embedder = { ...createHashingEmbedder(), embed: async () => [] };
    await expect(embed({}, forgetful)).rejects.toMatchObject({ code: "MODEL_OUTPUT_INVALID" });
    expect(await embed({ dryRun: true })).toMatchObject({ missing: 10 });
  });

  test("vectors go with their document", async () => {
    await embed();
    corpus.remove("notes/ops/3.md");
    await corpus.index();
    expect(await embed()).toMatchObject({ chunks_total: 9, skipped: 9, embedded: 0 });
  });
});
