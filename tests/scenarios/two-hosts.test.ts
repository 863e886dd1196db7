import { writeFile } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { loadConfig } from "../../src/shared/config/load-config.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import type { NewJob } from "../../src/shared/store/jobs/insert-jobs.ts";
import { createRunJob } from "../../src/worker/jobs/run-job.ts";
import { startWorker } from "../../src/worker/start.ts";
import type { RunningWorker } from "../../src/worker/start.ts";
import { countOf, openBatchOf, rowOf } from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { OllamaDouble } from "../doubles/ollama-server.ts";
import { describeOn } from "../support/describe-on.ts";

const jobOf = (customId: string, input: NewJob["input"]): NewJob => ({
  customId,
  input,
  inputSha256: "a".repeat(64),
  priority: 0,
});
const chat = (customId: string): NewJob =>
  jobOf(customId, { kind: "chat", prompt: `Say ${customId}`, max_tokens: 20 });
const embed = (customId: string): NewJob => jobOf(customId, { kind: "embed", text: customId });
const chats = (count: number) => Array.from({ length: count }, (_, i) => chat(`${i}`));

describeOn("postgres", "workers of different hosts", (name) => {
  let topology: Topology;
  let db: Database;
  let down: OllamaDouble;
  let healthy: OllamaDouble;
  const workers: RunningWorker[] = [];
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
    const models = [{ name: "m", respond: () => "done" }];
    down = await startOllamaDouble({ models, numParallel: 64 });
    healthy = await startOllamaDouble({ models, numParallel: 64 });
    await down.goDown();
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
    await db.query("delete from nightdesk_data.batches");
    await db.query("delete from nightdesk_data.hosts");
    await down.goDown();
    if (healthy.requests.length > 0) await healthy.goDown().then(() => healthy.comeBack());
  });
  afterAll(async () => {
    await down.close();
    await healthy.close();
    await db.end();
    await topology.dispose();
  });

  async function start(base_url: string, more: object = {}): Promise<void> {
    const file = `${topology.configFile}.${workers.length}.yaml`;
    await writeFile(
      file,
      stringify({
        extends: topology.configFile,
        model: { provider: "ollama", base_url, name: "m", parallel: 4, breaker_failures: 2 },
        runs: { reuse: "never" },
        ...more,
      }),
    );
    const { packageRoot } = topology.context.invocation;
    const flags = { config: file, workroot: topology.workroot };
    const config = await loadConfig({ flags, env: {}, cwd: topology.workroot, packageRoot });
    const context = { ...topology.context, config };
    const run = (database: Database) =>
      createRunJob(context, database, { sleep: async () => undefined });
    workers.push(await startWorker(context, 4, run));
  }
  const batchIs = (batchId: string, what: string, expected: Readonly<Record<string, unknown>>) =>
    eventually(what, async () => {
      const { rows } = await db.query(
        "select * from nightdesk.batch_progress where batch_id = $1",
        [batchId],
      );
      const batch = rows[0] as Record<string, unknown>;
      return Object.entries(expected).every(([key, value]) => batch[key] === value);
    });
  const askAgain = () => db.query("update nightdesk_data.hosts set next_probe_at = now()");

  test("a worker of a healthy host does the whole batch while another's host is down", async () => {
    await start(down.url);
    await start(healthy.url);
    const { batchId, jobIds } = await openBatchOf(db, chats(200));
    await eventually("the one host is known to be down", async () => {
      return (await countOf(db, "nightdesk.hosts where state = 'open'")) === 1;
    });
    // What had met the host that is down is tried again without it.
    await batchIs(batchId, "the batch is completed", { state: "completed", succeeded: "200" });
    expect(await countOf(db, "nightdesk.hosts where state = 'open'")).toBe(1);
    expect(await countOf(db, "nightdesk.batch_holds")).toBe(0);
    for (const jobId of jobIds) expect(await rowOf(db, jobId)).toMatchObject({ attempt: 1 });
  });

  test("a batch is held when the hosts of all workers are down, and goes on when one of them is back", async () => {
    await start(down.url);
    await start(healthy.url);
    await healthy.goDown();
    const { batchId } = await openBatchOf(db, chats(12));
    await eventually("both hosts are known to be down", async () => {
      return (await countOf(db, "nightdesk.hosts where state = 'open'")) === 2;
    });
    await batchIs(batchId, "the batch is held", { hold_reason: "host", running: "0" });
    const next = await openBatchOf(db, chats(2));
    await batchIs(next.batchId, "so is one that comes later", { hold_reason: "host" });
    expect(
      await countOf(
        db,
        "nightdesk_data.runs r join nightdesk_data.jobs j using (job_id) where j.batch_id = $1",
        [next.batchId],
      ),
    ).toBe(0);
    await healthy.comeBack();
    await askAgain();
    for (const each of [batchId, next.batchId]) {
      await batchIs(each, "it is completed", { state: "completed" });
    }
    expect(await countOf(db, "nightdesk.hosts where state = 'open'")).toBe(1);
  });

  test("jobs that call no model go on in a batch whose others wait for their host", async () => {
    await start(down.url);
    const mixed = [...chats(8), ...Array.from({ length: 8 }, (_, i) => embed(`text ${i}`))];
    const { batchId } = await openBatchOf(db, mixed);
    await batchIs(batchId, "what needs no host is done", { succeeded: "8", running: "0" });
    await batchIs(batchId, "what is left is held", { hold_reason: "host" });
    const later = await openBatchOf(db, [embed("later")]);
    await batchIs(later.batchId, "one without such jobs is completed", { state: "completed" });
    await down.comeBack();
    await askAgain();
    await batchIs(batchId, "all of it is done", { state: "completed", succeeded: "16" });
  });

  test("jobs that need no vectors go on while the embedder's host is down", async () => {
    const embedder = { provider: "ollama", model_id: "e", base_url: down.url };
    await start(healthy.url, { embed: embedder });
    const { batchId } = await openBatchOf(db, [...chats(6), embed("a"), embed("b"), embed("c")]);
    await batchIs(batchId, "what needs no vectors is done", { succeeded: "6", running: "0" });
    await batchIs(batchId, "what is left is held", { hold_reason: "host" });
  });
});
