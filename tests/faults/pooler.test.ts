import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { openDatabase } from "../../src/shared/store/connection/database.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { connectDatabase } from "../../src/shared/store/connection/connect.ts";
import { askJob, countOf, openBatchOf } from "../conformance/jobs.ts";
import { startTopology, topologies } from "../conformance/topologies.ts";
import type { Topology, TopologyName } from "../conformance/topologies.ts";
import { describeOn } from "../support/describe-on.ts";
import { jsonLine, runBin } from "../support/run-bin.ts";
import { queryServer } from "../support/templates.ts";
import { hasPooler, startPooler } from "./pooler.ts";
import type { Pooler } from "./pooler.ts";
import { expectWorked } from "./work-batch.ts";

const JOBS = 20;

/** Through the real PgBouncer, which has no more sessions than five for all. */
function describeBehind(
  mode: "transaction" | "session",
  name: TopologyName,
  tests: (world: () => World) => void,
): void {
  const block = hasPooler() && topologies.includes(name) ? describe : describe.skip;
  block(`behind PgBouncer in ${mode} mode on ${name}`, () => {
    let world: World;
    beforeAll(async () => {
      const topology = await startTopology(name);
      const { url } = topology.context.config.database;
      const pooler = await startPooler(url, mode);
      world = { topology, pooler, direct: url, onlooker: await topology.connect() };
    });
    afterAll(async () => {
      await world.onlooker.end();
      await world.pooler.close();
      await world.topology.dispose();
    });
    tests(() => world);
  });
}

type World = {
  readonly topology: Topology;
  readonly pooler: Pooler;
  readonly direct: string;
  /** Past the pooler. */
  readonly onlooker: Database;
};

/** The context of who knows the pooler, and past it what is given. */
const contextOf = ({ topology, pooler }: World, directUrl: string | null) => {
  const { context } = topology;
  const database = { ...context.config.database, url: pooler.url, direct_url: directUrl };
  return { ...context, config: { ...context.config, database } };
};

describeBehind("transaction", "redis+postgres", (world) => {
  test("a worker does its jobs, and hears by asking what is queued later", async () => {
    await expectWorked(contextOf(world(), null), world().onlooker, JOBS);
  }, 60_000);

  test("sessions are told as shared, and a statement of a job has no name there", async () => {
    const { context } = world().topology;
    const database = await connectDatabase({
      config: contextOf(world(), null).config,
      packageRoot: context.invocation.packageRoot,
      create: "must-exist",
      onError: () => undefined,
    });
    expect(await database.sharesSessions()).toBe(true);
    await Promise.all(
      Array.from({ length: 30 }, () => database.query("select $1::int", [1], "named")),
    );
    await database.end();
    const named = "select count(*)::int as named from pg_prepared_statements";
    expect((await world().onlooker.query(named)).rows).toEqual([{ named: 0 }]);
    expect(await world().onlooker.sharesSessions()).toBe(false);
  });

  test("a question is worked from the command line, and the doctor finds the queue", async () => {
    const { topology, pooler } = world();
    const place = { cwd: topology.workroot, env: { DATABASE_URL: pooler.url } };
    expect((await runBin(["ask", "What does the Bear burn?"], place)).code).toBe(0);
    expect((await runBin(["worker", "--drain"], place)).code).toBe(0);
    const left = "nightdesk_data.jobs where finished_at is null";
    expect(await countOf(world().onlooker, left, [])).toBe(0);
    const doctor = await runBin(["doctor", "--json", "--no-ollama"], place);
    expect(doctor.stdout).toContain("DOCTOR_QUEUE_OK");
  }, 60_000);
});

describeBehind("transaction", "postgres", (world) => {
  test("worker, doctor and batch show name the pooler and the key", async () => {
    const { topology, pooler, onlooker } = world();
    const { batchId } = await openBatchOf(onlooker, [askJob("waits")]);
    const place = { cwd: topology.workroot, env: { DATABASE_URL: pooler.url } };
    const [worker, doctor, shown] = await Promise.all([
      runBin(["worker", "--json"], place),
      runBin(["doctor", "--json", "--no-ollama"], place),
      runBin(["batch", "show", batchId, "--json"], place),
    ]);
    expect(worker.code).toBe(78);
    expect(jsonLine(worker)).toMatchObject({ ok: false, error_code: "CONFIG_ERROR" });
    expect(jsonLine(doctor)["checks"]).toContainEqual(
      expect.objectContaining({ error_code: "DOCTOR_QUEUE_UNUSABLE", level: "fail" }),
    );
    expect(jsonLine(shown)["obstacles"]).toContainEqual(
      expect.objectContaining({ what: "no_queue", error_code: "CONFIG_ERROR" }),
    );
    for (const { stdout } of [worker, doctor, shown]) {
      expect(stdout).toContain("pooler");
      expect(stdout).toContain("database.direct_url");
    }
    await onlooker.query("delete from nightdesk_data.batches");
  }, 60_000);

  test("with the address past it, a worker does its jobs", async () => {
    await expectWorked(contextOf(world(), world().direct), world().onlooker, JOBS);
  }, 60_000);
});

describeBehind("session", "postgres", (world) => {
  test("a worker does its jobs without a second address", async () => {
    expect(world().pooler.url).toContain("127.0.0.1");
    await expectWorked(contextOf(world(), null), world().onlooker, JOBS);
  }, 60_000);
});

describeOn("redis+postgres", "a pgvector outside of the search path, behind PgBouncer", () => {
  const inPooler = hasPooler() ? test : test.skip;
  inPooler(
    "is migrated, embedded, indexed and searched, in both precisions",
    async () => {
      const serverUrl = process.env["TEST_DATABASE_URL"] ?? "";
      const name = `nightdesk_path_${randomBytes(6).toString("hex")}`;
      const url = Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href;
      await queryServer(serverUrl, `create database ${name}`);
      await queryServer(url, "create schema kept_apart");
      await queryServer(url, "create extension vector schema kept_apart");
      await queryServer(serverUrl, `alter database ${name} set search_path = 'nowhere'`);
      const pooler = await startPooler(url, "transaction");
      const folder = await mkdtemp(join(tmpdir(), "nightdesk-path-"));
      const place = { cwd: folder, env: { DATABASE_URL: pooler.url } };
      const run = async (...words: string[]) => {
        const ended = await runBin(words, place);
        if (ended.code !== 0) throw new Error(`${words.join(" ")}: ${ended.stdout}${ended.stderr}`);
        return ended;
      };
      const configure = (precision: "full" | "half") =>
        writeFile(
          join(folder, "nightdesk.yaml"),
          JSON.stringify({
            extends: resolve("configs/default.yaml"),
            queue: {
              backend: "redis",
              redis_url: process.env["TEST_REDIS_URL"],
              prefix: name.replaceAll("_", "-"),
            },
            model: { provider: "extractive" },
            embed: { precision },
            retrieve: { exact_below: 1 },
          }),
        );
      const nearest = async () => {
        const found = await run("query", "the stove is lit in May", "--mode", "vector", "--json");
        return (jsonLine(found)["hits"] as { path: string }[])[0]?.path;
      };
      try {
        await mkdir(join(folder, "allowed/corpus"), { recursive: true });
        await writeFile(
          join(folder, "allowed/corpus/stove.md"),
          "# Stove\n\nThe stove is lit in May.\n",
        );
        await writeFile(join(folder, "allowed/corpus/pump.md"), "# Pump\n\nA pump moves water.\n");
        await configure("full");
        await run("migrate");
        await run("index", "--no-wait");
        await writeFile(
          join(folder, "texts.jsonl"),
          `${JSON.stringify({ custom_id: "t", kind: "embed", text: ["a stove"] })}\n`,
        );
        await run("enqueue", "texts.jsonl");
        await run("worker", "--drain");
        expect(await nearest()).toBe("allowed/corpus/stove.md");
        await configure("half");
        await run("embed", "--no-wait");
        await run("worker", "--drain");
        expect(await nearest()).toBe("allowed/corpus/stove.md");
        const counted =
          "select (select count(*) from nightdesk_data.job_vectors)::int as texts, " +
          "(select count(*) from pg_indexes where indexname like 'embeddings_hnsw_%')::int as indexes, " +
          "(select count(*) from nightdesk_data.embeddings where half_embedding is not null)::int as halves";
        const onlooker = openDatabase({
          target: { kind: "url", url },
          maxConnections: 1,
          statements: "query",
          onError: () => undefined,
        });
        const { rows } = await onlooker.query(counted);
        await onlooker.end();
        expect(rows).toEqual([{ texts: 1, indexes: 1, halves: 2 }]);
      } finally {
        await pooler.close();
        await queryServer(serverUrl, `drop database ${name} with (force)`);
        await rm(folder, { recursive: true, force: true });
      }
    },
    120_000,
  );
});
