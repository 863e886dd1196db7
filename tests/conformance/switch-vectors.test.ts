import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import type { CommandContext } from "../../src/shared/commands/command-context.ts";
import type { Config } from "../../src/shared/config/schema.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { selectSearchedVectors } from "../../src/shared/store/index/searched-vectors.ts";
import type { NewJob } from "../../src/shared/store/jobs/insert-jobs.ts";
import { createHashingEmbedder } from "../../src/worker/embedders/hashing.ts";
import { openFinder } from "../../src/worker/commands/find-passages.ts";
import { createRunJob } from "../../src/worker/jobs/run-job.ts";
import { startWorker } from "../../src/worker/start.ts";
import { startOpenAiDouble } from "../doubles/openai-server.ts";
import type { OpenAiDouble } from "../doubles/openai-server.ts";
import { describeOn } from "../support/describe-on.ts";
import { askJob, countOf, openBatchOf } from "./jobs.ts";
import { eventually } from "./signal.ts";
import { startTopology } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

describeOn("redis+postgres", "another embedder", (name) => {
  let topology: Topology;
  let db: Database;
  const doubles: OpenAiDouble[] = [];
  const start = async (): Promise<OpenAiDouble> => {
    const models = [{ name: "first" }, { name: "second" }];
    const double = await startOpenAiDouble({ models, embeds: true });
    doubles.push(double);
    return double;
  };
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
    for (let at = 0; at < 5; at += 1) {
      const path = join(topology.workroot, "allowed", "corpus", `${at}.md`);
      await writeFile(path, `# Note ${at}\n\nThe lamp of night ${at} is lit.\n`);
    }
    await run({ kind: "index" }, {});
  });
  afterEach(async () => {
    await Promise.all(doubles.splice(0).map((double) => double.close()));
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  const contextWith = (changed: Partial<Config>): CommandContext => ({
    ...topology.context,
    config: { ...topology.context.config, ...changed },
  });
  const embedAt = (url: string, model_id: string, more: Partial<Config["embed"]> = {}) => ({
    embed: {
      ...topology.context.config.embed,
      provider: "openai-compatible" as const,
      base_url: url,
      model_id,
      ...more,
    },
  });

  /** Runs one job, and those that it queues, by a worker of its own. */
  async function run(
    input: Extract<NewJob["input"], { kind: "index" | "embed" }>,
    changed: Partial<Config>,
  ): Promise<void> {
    const context = contextWith(changed);
    const worker = await startWorker(context, 1, (database) => createRunJob(context, database));
    try {
      const { batchId } = await openBatchOf(db, [askJob("a", { input })], "ad_hoc");
      await eventually(
        "the batch is completed",
        async () =>
          (await countOf(
            db,
            "nightdesk.batch_progress where batch_id = $1 and state = 'completed' and succeeded = total",
            [batchId],
          )) === 1,
        60_000,
      );
    } finally {
      await worker.stop(0);
    }
  }
  const embed = (changed: Partial<Config>, chunks: { readonly limit?: number } = {}) =>
    run({ kind: "embed", chunks }, changed);
  const query = async (changed: Partial<Config>, mode: "hybrid" | "vector" = "vector") => {
    const find = await openFinder(contextWith(changed), db, mode);
    return find({ text: "the lamp of night 3", limit: 5, mode }, "plain");
  };
  const searched = async () => (await selectSearchedVectors(db))?.signature;
  const vectorsBySignature = async () => {
    const { rows } = await db.query(
      "select signature, count(*)::integer as vectors from nightdesk_data.embeddings group by 1 order by 1",
    );
    return rows as { signature: string; vectors: number }[];
  };

  test("is searched when every chunk has its vector, and the vectors before until then", async () => {
    const hashing = createHashingEmbedder().signature;
    expect(await searched()).toBe(hashing);
    const changed = embedAt((await start()).url, "first");
    expect(await query(changed)).toMatchObject({
      vectors: expect.stringContaining("hashing-384"),
      hits: expect.arrayContaining([expect.anything()]),
    });

    await embed(changed, { limit: 3 });
    expect(await searched()).toBe(hashing);
    expect((await vectorsBySignature()).map(({ vectors }) => vectors).sort()).toEqual([3, 5]);
    const [best] = (await query(changed)).hits;
    expect(best?.passage.path).toContain("3.md");

    await embed(changed);
    expect(await searched()).not.toBe(hashing);
    expect(await vectorsBySignature()).toEqual([{ signature: await searched(), vectors: 5 }]);
    expect((await query(changed)).vectors).toBeNull();
    expect((await query(changed)).hits).not.toEqual([]);
    // Who still has the settings of before asks by those that are there.
    expect((await query({})).vectors).toContain('"first"');
  }, 120_000);

  test("is waited for by words alone where the one before can't embed, which is said", async () => {
    const double = await start();
    await embed(embedAt(double.url, "first"));
    const changed = embedAt((await start()).url, "second", { dimensions: 8 });
    const find = await openFinder(contextWith(changed), db, "hybrid");
    const ask = () => find({ text: "the lamp of night 3", limit: 5, mode: "hybrid" }, "plain");
    expect((await ask()).vectors).toContain('"first"');
    await double.close();
    expect((await ask()).vectors).toContain("by words alone");
    const found = await query(changed, "hybrid");
    expect(found.vectors).toMatch(/by words alone.*nightdesk embed/s);
    expect(found.hits[0]?.passage).toMatchObject({ path: "allowed/corpus/3.md", vectorRank: null });
    await expect(query(changed)).rejects.toMatchObject({ code: "EMBED_DRIFT" });
    await embed(changed);
    expect((await query(changed)).vectors).toBeNull();
  }, 120_000);

  test("in half precision is searched when every vector is rounded, for which no host is asked", async () => {
    const double = await start();
    const full = embedAt(double.url, "first");
    await embed(full);
    const signature = await searched();
    const passages = () =>
      double.requests
        .flatMap(({ body }) => [body["input"]].flat().map(String))
        .filter((input) => input.includes("is lit")).length;
    expect(passages()).toBe(5);
    const half = embedAt(double.url, "first", { precision: "half" });
    await embed(half, { limit: 3 });
    expect(await searched()).toBe(signature);
    expect((await query(half)).vectors).toContain('"first"');

    const { hits } = await query(full);
    await embed(half);
    expect(passages()).toBe(5);
    expect(await searched()).not.toBe(signature);
    expect(await vectorsBySignature()).toEqual([{ signature: await searched(), vectors: 5 }]);
    const found = await query(half);
    expect(found.vectors).toBeNull();
    expect(found.hits.map(({ passage }) => passage.path)).toEqual(
      hits.map(({ passage }) => passage.path),
    );
    // Who still has the settings of before asks by the vectors that are there, in their precision.
    expect((await query(full)).hits).toHaveLength(hits.length);

    await embed(full);
    expect(await searched()).toBe(signature);
    expect(passages()).toBe(10);
  }, 120_000);

  test("of several hosts goes on at the next one where the first is down, which is counted", async () => {
    const [down, up] = [await start(), await start()];
    await down.close();
    const hosts = [
      { name: "down", kind: "llama-server" as const, url: down.url, models: ["second"] },
      {
        name: "up",
        kind: "llama-server" as const,
        url: up.url,
        models: { second: "first" },
        priority: 1,
      },
    ];
    const { embed: one } = embedAt(up.url, "second", {
      query_prefix: "Q: ",
      passage_prefix: "P: ",
    });
    await embed({ hosts, embed: { ...one, provider: "hosts" } });
    const inputs = up.requests.flatMap(({ body }) => [body["input"]].flat().map(String));
    expect(inputs.filter((input) => input.startsWith("P: ")).length).toBeGreaterThanOrEqual(5);
    expect(up.requests.some(({ body }) => body["model"] === "first")).toBe(true);
    const { rows } = await db.query("select failures from nightdesk_data.hosts where host = $1", [
      down.url,
    ]);
    expect(rows).not.toEqual([]);
  }, 120_000);
});
