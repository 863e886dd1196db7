import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { describeOn } from "../support/describe-on.ts";
import { jsonLine, startBin } from "../support/run-bin.ts";
import type { Running } from "../support/run-bin.ts";
import { countOf, openBatchOf, rowOf } from "../conformance/jobs.ts";
import { signal } from "../conformance/signal.ts";
import type { Signal } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { OllamaDouble } from "../doubles/ollama-server.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import type { NewJob } from "../../src/shared/store/jobs/insert-jobs.ts";
import { migrate, SCHEMA_CHANNEL } from "../../src/shared/store/migrate.ts";

const chat = (customId: string): NewJob => ({
  customId,
  input: { kind: "chat", prompt: `Say ${customId}`, max_tokens: 20 },
  inputSha256: "a".repeat(64),
  priority: 0,
});

describeOn("redis+postgres", "a schema newer than a running worker,", (name) => {
  let topology: Topology;
  let db: Database;
  let double: OllamaDouble;
  let reply: Signal;
  let folder: string;
  let worker: Running;
  beforeAll(async () => {
    const models = [{ name: "m", respond: () => ({ text: "done", after: reply.promise }) }];
    double = await startOllamaDouble({ models, numParallel: 8 });
  });
  beforeEach(async () => {
    reply = signal();
    topology = await startTopology(name, {
      model: { provider: "ollama", name: "m", base_url: double.url, parallel: 1 },
      log: { level: "info" },
    });
    db = await topology.connect();
    folder = await mkdtemp(join(tmpdir(), "nightdesk-newer-"));
    const { packageRoot } = topology.context.invocation;
    await cp(join(packageRoot, "migrations"), folder, { recursive: true });
    worker = startBin(["worker", "--json", "--concurrency", "1"], { cwd: topology.workroot });
    await worker.said(/worker ready/);
  });
  afterEach(async () => {
    reply.resolve();
    worker.kill("SIGKILL");
    await worker.ended;
    await db.end();
    await topology.dispose();
    await rm(folder, { recursive: true });
  });
  afterAll(() => double.close());

  /** Migrates as the next version does. */
  async function upgrade(sql: string): Promise<void> {
    await writeFile(join(folder, "9999_later.sql"), sql);
    await db.transaction((transaction) => migrate(transaction, folder));
  }
  async function expectOutdated(what = "9999_later.sql"): Promise<void> {
    const ended = await worker.ended;
    expect(ended.code).toBe(78);
    const failure = jsonLine(ended);
    expect(failure).toMatchObject({ ok: false, error_code: "SCHEMA_OUTDATED" });
    expect(failure["error_message"]).toContain(what);
  }
  const untilAsked = (chats: number) =>
    double.until(
      (requests) =>
        requests.filter(({ path, state }) => path === "/api/chat" && state === "running").length ===
        chats,
    );

  test("stops it with SCHEMA_OUTDATED when it is idle", async () => {
    await upgrade("create table nightdesk_data.later (id integer)");
    await expectOutdated();
    expect(await countOf(db, "nightdesk_data.workers")).toBe(0);
  });

  test("stops it when only the functions were replaced", async () => {
    await db.query(
      "update nightdesk_migrations.applied set sha256 = repeat('0', 64) where name = 'pacing functions'",
    );
    await db.query(`select pg_notify('${SCHEMA_CHANNEL}', '')`);
    await expectOutdated("pacing functions");
  });

  test("lets it finish what it holds, and leaves the rest as it was", async () => {
    const { jobIds } = await openBatchOf(db, [chat("a"), chat("b"), chat("c")]);
    await untilAsked(1);
    await upgrade("create table nightdesk_data.later (id integer)");
    await worker.said(/stopping: no new jobs; what runs may finish/);
    reply.resolve();
    await expectOutdated();
    const jobs = await Promise.all(jobIds.map((jobId) => rowOf(db, jobId)));
    expect(jobs.map(({ state }) => state).sort()).toEqual(["queued", "queued", "succeeded"]);
    expect(jobs.map(({ error_code }) => error_code)).toEqual([null, null, null]);
    expect(jobs.filter(({ attempt }) => attempt === 0)).toHaveLength(2);
  });

  test.each([
    ["reply", "alter table nightdesk_data.model_calls rename column duration_ms to took_ms"],
    ["result", "alter table nightdesk_data.run_events rename column at_ms to after_ms"],
  ])("has it hand back a job whose %s can't be written any more", async (_, sql) => {
    const { jobIds } = await openBatchOf(db, [chat("a")]);
    await untilAsked(1);
    await upgrade(sql);
    reply.resolve();
    await expectOutdated();
    expect(await rowOf(db, jobIds[0] ?? "")).toMatchObject({
      state: "queued",
      error_code: null,
      attempt: 0,
      losses: 0,
    });
    expect(await countOf(db, "nightdesk_data.runs where state = 'handed_back'")).toBe(1);
  });
});
