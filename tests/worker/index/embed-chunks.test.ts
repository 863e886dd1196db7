import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { selectDueRanges, selectNow } from "../../../src/shared/store/index/embeddings.ts";
import type { Embedder } from "../../../src/worker/embedders/embedder.ts";
import { createHashingEmbedder } from "../../../src/worker/embedders/hashing.ts";
import { shapeEmbedder } from "../../../src/worker/embedders/shape-vectors.ts";
import { embedChunks } from "../../../src/worker/index/embed-chunks.ts";
import type { EmbedOptions } from "../../../src/worker/index/embed-chunks.ts";
import { openCorpus } from "../../support/test-corpus.ts";
import type { TestCorpus } from "../../support/test-corpus.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

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
    expect(await embed({ dryRun: true })).toMatchObject({ embedded: 0, missing: 10, due: 10 });
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

  test("vectors of another build are made beside, and are not compared with", async () => {
    await embed();
    expect(await embed({ limit: 3 }, anotherBuild)).toMatchObject({ embedded: 3, outdated: 7 });
    expect(await embed({ dryRun: true })).toMatchObject({ skipped: 10, outdated: 0 });
    expect(await embed({}, anotherBuild)).toMatchObject({ embedded: 7, skipped: 3, outdated: 0 });
    const { rows } = await database.db.query(
      "select distinct embedded_models from nightdesk.chunks",
    );
    expect(rows).toEqual([{ embedded_models: ["hashing-384"] }]);
    expect(await embed({ dryRun: true })).toMatchObject({ skipped: 10, outdated: 0 });
    await database.db.query("delete from nightdesk_data.embeddings where signature <> $1", [
      anotherBuild.signature,
    ]);
    await expect(corpus.search({ text: "note 3", mode: "vector" })).rejects.toMatchObject({
      code: "EMBED_DRIFT",
      message: expect.stringContaining("nightdesk embed"),
    });
    expect(await corpus.search({ text: "note 3", mode: "lexical" })).not.toEqual([]);
  });

  test("a query sees the vectors of its own build only", async () => {
    await embed({ rebuild: true }, anotherBuild);
    await embed({ rebuild: true, limit: 3 });
    const found = await corpus.search({ text: "note", mode: "vector" }, { perDocument: 10 });
    expect(found).toHaveLength(3);
  });

  describe("in half precision", () => {
    const HALF = { model_id: "", query_prefix: "", passage_prefix: "", dimensions: null } as const;
    const halfOf = (embedder: Embedder): Embedder =>
      shapeEmbedder(embedder, { ...HALF, precision: "half" });
    const half = halfOf(createHashingEmbedder());
    /** Says how often it is asked. */
    const counted = (asked: string[]): Embedder => ({
      ...half,
      embed: (texts, signal) => {
        asked.push(...texts);
        return half.embed(texts, signal);
      },
    });
    const columns = async () => {
      const { rows } = await database.db.query(
        `select signature, count(embedding)::integer as whole, count(half_embedding)::integer as half
           from nightdesk_data.embeddings group by 1`,
      );
      return Object.fromEntries(
        (rows as { signature: string; whole: number; half: number }[]).map(
          ({ signature, ...counts }) => [signature, counts],
        ),
      );
    };

    test("vectors that are stored in full are rounded, the others are embedded", async () => {
      await embed({ limit: 7 });
      const asked: string[] = [];
      const steps: number[] = [];
      const onProgress = (done: number) => steps.push(done);
      expect(await embed({ onProgress }, counted(asked))).toMatchObject({
        precision: "half",
        embedded: 10,
        rounded: 7,
        missing: 0,
        outdated: 0,
      });
      expect(asked).toHaveLength(3);
      expect(steps).toEqual([7, 10]);
      expect(await columns()).toEqual({
        [half.signature]: { whole: 0, half: 10 },
        [half.roundedFrom ?? ""]: { whole: 7, half: 0 },
      });
      const { rows } = await database.db.query(
        `select count(*)::integer as same from nightdesk_data.embeddings w join nightdesk_data.embeddings r using (chunk_id)
          where w.embedding::halfvec = r.half_embedding`,
      );
      expect(rows).toEqual([{ same: 7 }]);
    });

    test("a limit and a range hold for what is rounded", async () => {
      await embed();
      const [range] = await rangesOf(4, await selectNow(database.db));
      expect(await embed({ range, limit: 3 }, half)).toMatchObject({ embedded: 3, rounded: 3 });
      expect(await embed({ range }, half)).toMatchObject({ embedded: 1, rounded: 1, missing: 0 });
      expect(await embed({}, half)).toMatchObject({ embedded: 6, rounded: 6, skipped: 4 });
      expect(await embed({}, half)).toMatchObject({ embedded: 0, rounded: 0, skipped: 10 });
    });

    test("a rebuild asks the model again", async () => {
      await embed();
      await embed({}, half);
      expect(await embed({ rebuild: true }, half)).toMatchObject({ embedded: 10, rounded: 0 });
    });

    test("vectors in full are never made of halves, nor halves of another build", async () => {
      await embed({}, half);
      expect(await embed()).toMatchObject({ precision: "full", embedded: 10, rounded: 0 });
      expect(await embed({}, halfOf(anotherBuild))).toMatchObject({ embedded: 10, rounded: 0 });
    });
  });

  test("an index without any vector is searched by words, and no drift", async () => {
    expect(await corpus.search({ text: "note 3", mode: "vector" })).toEqual([]);
    expect(await corpus.search({ text: "note 3", mode: "hybrid" })).not.toEqual([]);
  });

  const rangesOf = async (size: number, redoBefore: string | null = null) => {
    const { id: model, signature } = createHashingEmbedder();
    return selectDueRanges(database.db, { model, signature }, redoBefore, size);
  };

  test("what is due is cut into ranges that hold each chunk once", async () => {
    const ranges = await rangesOf(4);
    expect(ranges.map(({ due }) => due)).toEqual([4, 4, 2]);
    for (const range of ranges) {
      expect(await embed({ range })).toMatchObject({ embedded: range.due, missing: 0, skipped: 0 });
    }
    expect(await rangesOf(4)).toEqual([]);
    expect(await embed({ dryRun: true })).toMatchObject({ chunks_total: 10, skipped: 10, due: 0 });
    expect(await embed({ dryRun: true, rebuild: true, limit: 4 })).toMatchObject({ due: 4 });
  });

  test("a range that is done twice is embedded once, and a limit stays inside it", async () => {
    const [first, second] = await rangesOf(5);
    expect(await embed({ range: first, limit: 2 })).toMatchObject({ embedded: 2, missing: 3 });
    expect(await embed({ range: first })).toMatchObject({ embedded: 3, skipped: 2 });
    expect(await embed({ range: first })).toMatchObject({ embedded: 0, skipped: 5 });
    expect(await embed({ dryRun: true, range: second })).toMatchObject({ missing: 5 });
  });

  test("a rebuild that is interrupted goes on where it was", async () => {
    await embed();
    const redoBefore = await selectNow(database.db);
    const controller = new AbortController();
    const onProgress = (embedded: number) => {
      if (embedded === 6) controller.abort(new Error("stop"));
    };
    const rebuild = { rebuild: true, redoBefore };
    await expect(embed({ ...rebuild, signal: controller.signal, onProgress })).rejects.toThrow();
    expect((await rangesOf(3, redoBefore)).map(({ due }) => due)).toEqual([3, 1]);
    expect(await embed(rebuild)).toMatchObject({ embedded: 4, skipped: 6 });
    expect(await embed(rebuild)).toMatchObject({ embedded: 0, skipped: 10 });
  });

  test("neither a limit nor a range takes a vector away", async () => {
    await embed();
    const [range] = await rangesOf(4, await selectNow(database.db));
    await embed({ rebuild: true, limit: 1 });
    await embed({ rebuild: true, limit: 1, range });
    expect(await embed({ dryRun: true })).toMatchObject({ skipped: 10, missing: 0, outdated: 0 });
  });

  test("counts the chunks that the model's window did not hold", async () => {
    const short: Embedder = {
      ...createHashingEmbedder(),
      embed: (texts, signal, onCut) => {
        onCut?.();
        return createHashingEmbedder().embed(texts, signal);
      },
    };
    // One in each of four batches.
    expect(await embed({}, short)).toMatchObject({ embedded: 10, cut: 4 });
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
