import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { connectQueueDatabase } from "../../src/shared/store/connection/connect.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { dispatchDueJobs } from "../../src/shared/store/jobs/dispatch.ts";
import { deliveryId, openQueue } from "../../src/shared/queue/job-queue.ts";
import type { JobQueue } from "../../src/shared/queue/job-queue.ts";
import type { DeliveryWorker } from "../../src/shared/queue/storage.ts";
import { fillQueue, requeueLostDeliveries } from "../../src/worker/services/dispatcher.ts";
import { askJob, openBatchOf, rowOf } from "./jobs.ts";
import { eventually, signal } from "./signal.ts";
import { startTopology, topologies } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

describe.each(topologies)("the queue on %s", (name) => {
  let topology: Topology;
  let db: Database;
  let queueDatabase: Database | undefined;
  let queue: JobQueue;
  const workers: DeliveryWorker[] = [];

  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
  });
  beforeEach(() => {
    const { config, invocation } = topology.context;
    const ignore = () => undefined;
    queueDatabase =
      config.queue.backend === "postgres"
        ? connectQueueDatabase({
            config,
            packageRoot: invocation.packageRoot,
            create: "create",
            maxConnections: 8,
            onError: ignore,
          })
        : undefined;
    queue = openQueue(
      queueDatabase === undefined
        ? { backend: "redis", url: config.queue.redis_url, prefix: config.queue.prefix }
        : { backend: "postgres", database: queueDatabase },
      ignore,
    );
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.close()));
    await drain(queue);
    await queue.close();
    await queueDatabase?.end();
    await db.query("delete from nightdesk_data.batches");
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  const delivery = (place: "front" | "back" = "back") => ({
    jobId: randomUUID(),
    dispatch: 1,
    place,
  });

  /** Takes what is in the queue away, so that the next test begins with an empty one. */
  async function drain(full: JobQueue): Promise<void> {
    if ((await full.countWaiting()) === 0) return;
    const worker = full.work(8, async () => undefined);
    await eventually("the queue is empty", async () => (await full.deliveryIds()).size === 0);
    await worker.close();
  }

  /** Starts a worker that notes what it gets. */
  function receive(expected: number): { got: string[]; all: Promise<void> } {
    const got: string[] = [];
    const all = signal();
    workers.push(
      queue.work(1, async ({ jobId, dispatch }) => {
        got.push(deliveryId(jobId, dispatch));
        if (got.length === expected) all.resolve();
      }),
    );
    return { got, all: all.promise };
  }

  test("what is added is delivered once, in order", async () => {
    const sent = Array.from({ length: 20 }, () => delivery());
    await queue.add(sent);
    const { got, all } = receive(20);
    await all;
    expect(got).toEqual(sent.map(({ jobId }) => deliveryId(jobId, 1)));
  });

  test("a delivery that is still in the queue is not added twice", async () => {
    const one = delivery();
    await queue.add([one, one]);
    await queue.add([one]);
    expect(await queue.countWaiting()).toBe(1);
  });

  test("a delivery can be added again after it was taken", async () => {
    const one = delivery();
    await queue.add([one]);
    const { all } = receive(2);
    await eventually("it is taken", async () => (await queue.deliveryIds()).size === 0);
    await queue.add([one]);
    await all;
  });

  test("what somebody waits for goes first", async () => {
    const [bulk, urgent] = [delivery(), delivery("front")];
    await queue.add([bulk]);
    await queue.add([urgent]);
    const { got, all } = receive(2);
    await all;
    expect(got).toEqual([deliveryId(urgent.jobId, 1), deliveryId(bulk.jobId, 1)]);
  });

  test("the queue tells what it holds", async () => {
    const sent = [delivery(), delivery()];
    await queue.add(sent);
    expect([...(await queue.deliveryIds())].sort()).toEqual(
      sent.map(({ jobId }) => deliveryId(jobId, 1)).sort(),
    );
  });

  test("a handler that throws does not stop the worker", async () => {
    const got = signal();
    let calls = 0;
    workers.push(
      queue.work(1, async () => {
        calls += 1;
        if (calls === 1) throw new Error("broken on purpose");
        got.resolve();
      }),
    );
    await queue.add([delivery(), delivery()]);
    await got.promise;
  });

  test("closing a worker waits for what it has in hand", async () => {
    const [begun, mayEnd] = [signal(), signal()];
    let ended = false;
    const worker = queue.work(1, async () => {
      begun.resolve();
      await mayEnd.promise;
      ended = true;
    });
    await queue.add([delivery()]);
    await begun.promise;
    const closed = worker.close();
    mayEnd.resolve();
    await closed;
    expect(ended).toBe(true);
  });

  test("due jobs are put into the queue once, whoever dispatches", async () => {
    await openBatchOf(
      db,
      Array.from({ length: 30 }, (_, i) => askJob(`${i}`)),
    );
    await Promise.all(Array.from({ length: 4 }, () => fillQueue({ database: db, queue })));
    await fillQueue({ database: db, queue });
    expect(await queue.countWaiting()).toBe(30);
  });

  test("a delivery that never reached the queue is dispatched again", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    // Marked in the rows, as by a dispatcher that died before it added.
    await dispatchDueJobs(db, 10);
    expect(await requeueLostDeliveries(db, queue, 0)).toBe(1);
    await fillQueue({ database: db, queue });
    expect([...(await queue.deliveryIds())]).toEqual([deliveryId(jobIds[0] ?? "", 2)]);
  });

  test("a delivery that is in the queue is left alone", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    await fillQueue({ database: db, queue });
    expect(await requeueLostDeliveries(db, queue, 0)).toBe(0);
    expect((await rowOf(db, jobIds[0] ?? ""))["dispatch"]).toBe(1);
  });
});
