import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { changeBatch } from "../../src/shared/store/jobs/batch-settings.ts";
import { cancelBatch } from "../../src/shared/store/jobs/close-batches.ts";
import { findBatch } from "../../src/shared/views/batches.ts";
import { createRunJob } from "../../src/worker/jobs/run-job.ts";
import { startWorker } from "../../src/worker/start.ts";
import type { RunningWorker } from "../../src/worker/start.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { OllamaDouble } from "../doubles/ollama-server.ts";
import { askJob, openBatchOf } from "./jobs.ts";
import { eventually } from "./signal.ts";
import { startTopology, topologies } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

const NEVER = new Promise<never>(() => undefined);
const chatJob = (model: string, prompt: string) =>
  askJob(model, { input: { kind: "chat", prompt, model } });

describe.each(topologies)("a call in flight on %s", (name) => {
  let topology: Topology;
  let db: Database;
  let double: OllamaDouble;
  let worker: RunningWorker;
  beforeAll(async () => {
    double = await startOllamaDouble({
      models: [
        { name: "quick", respond: () => "at once" },
        { name: "slow", respond: () => ({ text: "never", after: NEVER }) },
      ],
    });
    topology = await startTopology(name, {
      model: { provider: "ollama", name: "quick", base_url: double.url, num_ctx: 2_048 },
    });
    // The pool of another process, as it were: what it says gets to the worker by the database alone.
    db = await topology.connect();
    const { context } = topology;
    worker = await startWorker(context, 1, (database) => createRunJob(context, database));
  });
  afterAll(async () => {
    await worker.stop(0);
    await db.end();
    await double.close();
    await topology.dispose();
  });

  const isAborted = () => double.chats().at(-1)?.state === "aborted";

  async function startSlow(): Promise<string> {
    const seen = double.chats().length;
    // A prompt of its own: the reply to one that was asked before would be taken over.
    const jobs = ["quick", "slow"].map((model) => chatJob(model, `Say something new, ${seen}.`));
    const { batchId } = await openBatchOf(db, jobs);
    await eventually(
      "one has its answer, and one has none yet",
      async () =>
        double.chats().length === seen + 2 &&
        (await findBatch(db, batchId))?.counts.succeeded === 1 &&
        double.chats().at(-1)?.state === "running",
    );
    return batchId;
  }

  test("is closed within a second when its batch is cancelled, and what is finished stays", async () => {
    const batchId = await startSlow();
    const cancelledAt = performance.now();
    await cancelBatch(db, batchId);
    await eventually("the request is closed", async () => isAborted());
    expect(performance.now() - cancelledAt).toBeLessThan(1_000);
    await eventually(
      "the job is cancelled",
      async () => (await findBatch(db, batchId))?.counts.cancelled === 1,
    );
    expect(await findBatch(db, batchId)).toMatchObject({
      state: "cancelled",
      counts: { succeeded: 1, running: 0 },
    });
  });

  test("is closed when the deadline of its batch passes, by the keeper of a worker", async () => {
    const batchId = await startSlow();
    await changeBatch(db, batchId, { deadlineAt: new Date() });
    await eventually("the request is closed", async () => isAborted());
    await eventually(
      "the job is expired",
      async () => (await findBatch(db, batchId))?.counts.expired === 1,
    );
    expect(await findBatch(db, batchId)).toMatchObject({
      state: "expired",
      counts: { succeeded: 1, running: 0 },
    });
  });
});
