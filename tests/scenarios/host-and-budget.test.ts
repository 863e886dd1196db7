import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { loadConfig } from "../../src/shared/config/load-config.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { setBatchBudget } from "../../src/shared/store/hosts/budgets.ts";
import { cancelBatch } from "../../src/shared/store/jobs/close-batches.ts";
import type { NewJob } from "../../src/shared/store/jobs/insert-jobs.ts";
import { createRunJob } from "../../src/worker/jobs/run-job.ts";
import { startWorker } from "../../src/worker/start.ts";
import type { RunningWorker } from "../../src/worker/start.ts";
import { countOf, openBatchOf, rowOf } from "../conformance/jobs.ts";
import { eventually, signal } from "../conformance/signal.ts";
import type { Signal } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { OllamaDouble } from "../doubles/ollama-server.ts";
import type { Script } from "../doubles/ollama/double-model.ts";
import { describeOn } from "../support/describe-on.ts";

const chatJob = (customId: string): NewJob => ({
  customId,
  input: { kind: "chat", prompt: `Say ${customId}`, max_tokens: 20 },
  inputSha256: "a".repeat(64),
  priority: 0,
});
const chats = (count: number) => Array.from({ length: count }, (_, i) => chatJob(`${i}`));

describeOn("redis+postgres", "workers", (name) => {
  let topology: Topology;
  let db: Database;
  let double: OllamaDouble;
  let replies: Signal;
  const workers: RunningWorker[] = [];
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
    replies = signal();
    replies.resolve();
    const models = [
      { name: "m", respond: () => ({ text: "done", after: replies.promise }) },
      { name: "e", capabilities: ["embedding"] },
    ];
    double = await startOllamaDouble({ models, numParallel: 64 });
  });
  afterEach(async () => {
    replies.resolve();
    double.setChats("ready");
    await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
    await db.query("delete from nightdesk_data.batches");
    await db.query("delete from nightdesk_data.hosts");
  });
  afterAll(async () => {
    await double.close();
    await db.end();
    await topology.dispose();
  });

  async function start(
    count: number,
    more: Readonly<Record<string, unknown>>,
    concurrency = 4,
  ): Promise<void> {
    const file = `${topology.configFile}.pace.yaml`;
    const { budgets, embed, ...model } = more;
    await writeFile(
      file,
      stringify({
        extends: topology.configFile,
        model: { provider: "ollama", base_url: double.url, name: "m", ...model },
        runs: { reuse: "never" },
        ...(budgets === undefined ? {} : { budgets }),
        ...(embed === undefined ? {} : { embed }),
      }),
    );
    const { packageRoot } = topology.context.invocation;
    const flags = { config: file, workroot: topology.workroot };
    const config = await loadConfig({ flags, env: {}, cwd: topology.workroot, packageRoot });
    const context = { ...topology.context, config };
    for (let i = 0; i < count; i += 1) {
      const run = (database: Database) =>
        createRunJob(context, database, { sleep: async () => undefined });
      workers.push(await startWorker(context, concurrency, run));
    }
  }
  const made = () => double.chats().filter(({ state }) => state === "done").length;
  const stateIs = (batchId: string, state: string) =>
    eventually(`the batch is ${state}`, async () => {
      const where = "nightdesk.batch_progress where batch_id = $1 and state = $2";
      return (await countOf(db, where, [batchId, state])) === 1;
    });
  const batchOf = async (batchId: string) =>
    (await db.query("select * from nightdesk.batch_progress where batch_id = $1", [batchId]))
      .rows[0] as Record<string, unknown>;

  test("together ask no more of a host at once than it serves", async () => {
    await start(2, { parallel: 2 });
    replies = signal();
    const { batchId } = await openBatchOf(db, chats(8));
    await double.until(
      (requests) => requests.filter(({ state }) => state === "running").length === 2,
    );
    await eventually(
      "the others wait",
      async () => (await countOf(db, "nightdesk.hosts where in_use = 2 and waiting = 6")) === 1,
    );
    replies.resolve();
    await stateIs(batchId, "completed");
    expect(double.mostAtOnce("/api/chat")).toBe(2);
    expect(await countOf(db, "nightdesk_data.reservations")).toBe(0);
    expect(
      await countOf(db, "nightdesk_data.run_events where (detail->>'waited_ms')::int > 0"),
    ).toBe(6);
  });

  test("embed a question when its host has a slot, as they make any call", async () => {
    const note = join(topology.workroot, "allowed", "corpus", "ferry.md");
    await writeFile(note, "# Ferry\n\nThe ferry leaves at seven.\n");
    const embed = { provider: "ollama", model_id: "e", base_url: double.url };
    await start(1, { parallel: 1, embed });
    const job = (input: NewJob["input"]): NewJob => ({ ...chatJob("only"), input });
    await stateIs((await openBatchOf(db, [job({ kind: "index" })])).batchId, "completed");
    replies = signal();
    const chat = await openBatchOf(db, chats(1));
    await double.until((requests) => requests.some(({ state }) => state === "running"));
    const question = "When does the ferry leave?";
    const ask = await openBatchOf(db, [job({ kind: "ask", question })]);
    const embedded = () =>
      double.requests.filter(({ body }) => JSON.stringify(body).includes(question)).length;
    await eventually(
      "the question waits",
      async () => (await countOf(db, "nightdesk.hosts where in_use = 1 and waiting = 1")) === 1,
    );
    expect(embedded()).toBe(0);
    replies.resolve();
    for (const { batchId } of [chat, ask]) await stateIs(batchId, "completed");
    expect(double.requests.some(({ path, body }) => isEmbedding(path, body, question))).toBe(true);
    expect(double.mostAtOnce("/api/embed")).toBe(1);
  });
  const isEmbedding = (path: string, body: unknown, question: string) =>
    path === "/api/embed" && JSON.stringify(body).includes(question);

  test("make exactly as many calls as a budget allows, hold the batch, and go on when it is raised", async () => {
    await start(2, { parallel: 20, budgets: { calls: 5 } }, 10);
    const before = made();
    const { batchId, jobIds } = await openBatchOf(db, chats(20));
    await eventually("the batch is held with nothing running", async () => {
      const { hold_reason, running, succeeded } = await batchOf(batchId);
      return hold_reason === "budget" && running === "0" && succeeded === "5";
    });
    expect(made() - before).toBe(5);
    await setBatchBudget(db, batchId, { calls: 20 });
    await stateIs(batchId, "completed");
    expect(made() - before).toBe(20);
    for (const jobId of jobIds) expect((await rowOf(db, jobId))["attempt"]).toBe(1);
  });

  test.each(["no_final_line", "broken_line"] as const)(
    "ask again for a reply with %s, and store no part of it as an answer",
    async (ending) => {
      let asked = 0;
      const respond = (): Script => ({ text: "a b c", ending: asked++ === 0 ? ending : "done" });
      const broken = await startOllamaDouble({ models: [{ name: "m", respond }] });
      try {
        await start(1, { base_url: broken.url });
        const { batchId, jobIds } = await openBatchOf(db, chats(1));
        await eventually("the job is parked", async () => {
          const { state, error_code: code } = await rowOf(db, jobIds[0] ?? "");
          return state === "parked" && code === "MODEL_UNREACHABLE";
        });
        await db.query("update nightdesk_data.jobs set due_at = now()");
        await db.query("select pg_notify('nightdesk_jobs', '')");
        await stateIs(batchId, "completed");
        const { rows } = await db.query(
          "select state, answer from nightdesk.results where batch_id = $1",
          [batchId],
        );
        expect(rows).toEqual([{ state: "succeeded", answer: "a b c" }]);
        expect(await rowOf(db, jobIds[0] ?? "")).toMatchObject({ attempt: 1, parks: 1 });
      } finally {
        await broken.close();
      }
    },
  );

  test("park what needs a host that is down, hold its batch, and do it all when the host is back", async () => {
    await start(2, { parallel: 4, breaker_failures: 2 });
    await double.goDown();
    const { batchId, jobIds } = await openBatchOf(db, chats(12));
    await eventually("the batch is held", async () => {
      const { hold_reason, running } = await batchOf(batchId);
      return hold_reason === "host" && running === "0";
    });
    const untouched = await countOf(db, "nightdesk_data.jobs where state = 'queued'");
    expect(untouched).toBeGreaterThan(0);
    await double.comeBack();
    await db.query("update nightdesk_data.hosts set next_probe_at = now()");
    await stateIs(batchId, "completed");
    for (const jobId of jobIds) {
      expect(await rowOf(db, jobId)).toMatchObject({ state: "succeeded", attempt: 1 });
    }
  });

  test("try a busy host again, then park the job for it, and lose no attempt over that", async () => {
    await start(1, { parallel: 4 });
    double.setChats("busy");
    const before = double.chats().length;
    const { batchId, jobIds } = await openBatchOf(db, chats(1));
    const [jobId = ""] = jobIds;
    await eventually("it is parked", async () => (await rowOf(db, jobId))["state"] === "parked");
    expect(await rowOf(db, jobId)).toMatchObject({
      error_code: "MODEL_OVERLOADED",
      parked_host: double.url,
      attempt: 0,
    });
    expect(double.chats().length - before).toBe(4);
    expect(await countOf(db, "nightdesk.hosts where capacity = 1")).toBe(1);
    double.setChats("ready");
    await db.query("update nightdesk_data.jobs set due_at = now()");
    await stateIs(batchId, "completed");
    expect(await rowOf(db, jobId)).toMatchObject({ state: "succeeded", attempt: 1 });
  });

  test("let a call that waits for its turn go when its batch is cancelled", async () => {
    await start(1, { parallel: 1 }, 2);
    replies = signal();
    const { batchId } = await openBatchOf(db, chats(2));
    await eventually(
      "one waits",
      async () => (await countOf(db, "nightdesk.hosts where in_use = 1 and waiting = 1")) === 1,
    );
    await cancelBatch(db, batchId);
    await eventually(
      "both have stopped",
      async () =>
        (await countOf(db, "nightdesk_data.jobs where batch_id = $1 and state = 'cancelled'", [
          batchId,
        ])) === 2,
    );
    expect(await countOf(db, "nightdesk_data.host_slots where ticket is not null")).toBe(0);
    expect(await countOf(db, "nightdesk_data.host_waiters")).toBe(0);
  });
});
