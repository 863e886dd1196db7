import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import type { NewJob } from "../../src/shared/store/jobs/insert-jobs.ts";
import { countOf, openBatchOf } from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { OllamaDouble } from "../doubles/ollama-server.ts";
import { rowsOf } from "../producer/desk.ts";
import { startBin } from "../support/run-bin.ts";
import type { Running } from "../support/run-bin.ts";

let double: OllamaDouble;
let topology: Topology;
let database: Database;
const started: Running[] = [];
beforeAll(async () => {
  double = await startOllamaDouble({ models: [{ name: "m", respond: () => "done" }] });
  topology = await startTopology("embedded", {
    model: { provider: "ollama", name: "m", base_url: double.url, breaker_failures: 1 },
    log: { level: "info" },
  });
  database = await topology.connect();
});
beforeEach(() => double.goDown());
afterEach(async () => {
  for (const process of started.splice(0)) {
    process.kill("SIGTERM");
    await process.ended;
  }
  await database.query("delete from nightdesk_data.batches");
  await database.query("delete from nightdesk_data.hosts");
});
afterAll(async () => {
  await database.end();
  await topology.dispose();
  await double.close();
});

const start = (...words: readonly string[]): Running => {
  const running = startBin(words, { cwd: topology.workroot });
  started.push(running);
  return running;
};

const chat = (prompt: string): NewJob => ({
  customId: prompt,
  input: { kind: "chat", prompt, max_tokens: 20 },
  inputSha256: randomUUID().replaceAll("-", "").repeat(2),
  priority: 0,
});

const untilHeldWithoutWorker = (batchId: string): Promise<void> =>
  eventually("the batch is held, and its worker has gone", async () => {
    const [batch] = await rowsOf(
      database,
      "select hold_reason, running from nightdesk.batch_progress where batch_id = $1",
      [batchId],
    );
    const workers = await countOf(database, "nightdesk_data.workers");
    return batch?.["hold_reason"] === "host" && batch["running"] === "0" && workers === 0;
  });

test("a command that waits resumes a batch that was held for its host, though no worker is left", async () => {
  const { batchId } = await openBatchOf(database, [chat("a"), chat("b"), chat("c")]);
  const waiting = start("batch", "wait", batchId, "--json");
  await untilHeldWithoutWorker(batchId);
  await double.comeBack();
  const { code, stdout } = await waiting.ended;
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ total: 3, succeeded: 3 });
});

test("it asks a host that stays away again and again, and lets it be meanwhile", async () => {
  const { batchId } = await openBatchOf(database, [chat("a")]);
  const waiting = start("batch", "wait", batchId);
  await untilHeldWithoutWorker(batchId);
  const probes = async () =>
    Number((await rowsOf(database, "select probes from nightdesk_data.hosts"))[0]?.["probes"]);
  for (const times of [1, 2]) {
    await database.query("update nightdesk_data.hosts set next_probe_at = clock_timestamp()");
    await eventually(`the host was asked ${times} times`, async () => (await probes()) >= times);
    await untilHeldWithoutWorker(batchId);
  }
  expect(await countOf(database, "nightdesk_data.runs")).toBe(1);
  waiting.kill("SIGINT");
  expect((await waiting.ended).code).toBe(130);
});

test("nightdesk up resumes what an earlier worker left held", async () => {
  const { batchId } = await openBatchOf(database, [chat("a"), chat("b")]);
  const draining = start("worker", "--drain");
  const { code, stderr } = await draining.ended;
  expect(code).toBe(75);
  expect(stderr).toContain("jobs wait for a model host that is down or busy");
  expect(stderr).toContain(double.url);
  // On a busy machine it has left before it held the batch, and nobody else does.
  expect(await countOf(database, "nightdesk_data.workers")).toBe(0);
  expect(
    await rowsOf(
      database,
      "select running, parked + queued as left from nightdesk.batch_progress where batch_id = $1",
      [batchId],
    ),
  ).toMatchObject([{ running: "0", left: "2" }]);
  await double.comeBack();
  await start("up").said(/worker ready/);
  await eventually(
    "the batch is completed",
    async () =>
      (await countOf(database, "nightdesk.batch_progress where state = 'completed'")) === 1,
    60_000,
  );
});
