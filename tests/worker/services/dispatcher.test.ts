import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { deliveryId, openQueue } from "../../../src/shared/queue/job-queue.ts";
import type { JobQueue } from "../../../src/shared/queue/job-queue.ts";
import type { Database } from "../../../src/shared/store/connection/database.ts";
import { createFaultLog } from "../../../src/worker/loop.ts";
import { dispatcherService, fillQueue } from "../../../src/worker/services/dispatcher.ts";
import { askJob, openBatchOf, rowOf } from "../../conformance/jobs.ts";
import { startTopology, topologies } from "../../conformance/topologies.ts";
import type { Topology } from "../../conformance/topologies.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

const ONCE = { stopping: new AbortController().signal, wake: () => undefined };
const describeOnRedis = topologies.includes("redis+postgres") ? describe : describe.skip;

describeOnRedis("the dispatcher of a queue in Redis", () => {
  let topology: Topology;
  let db: Database;
  let queue: JobQueue;
  beforeAll(async () => {
    topology = await startTopology("redis+postgres");
    db = await topology.connect();
    const { redis_url: url, prefix } = topology.context.config.queue;
    queue = openQueue({ backend: "redis", url, prefix }, () => undefined);
  });
  afterAll(async () => {
    await queue.close();
    await db.end();
    await topology.dispose();
  });

  /** What FLUSHALL does, without the queues of other tests. */
  async function flush(): Promise<void> {
    const { redis_url: url, prefix } = topology.context.config.queue;
    const redis = new Redis(url);
    await redis.del(...(await redis.keys(`{${prefix}}:*`)));
    await redis.quit();
  }

  test("fills it again after it was emptied, with the jobs that the rows hold", async () => {
    const { logger } = topology.context;
    const begin = () =>
      dispatcherService({
        ...{ database: db, queue, logger, clock: () => "database" },
        faults: createFaultLog(logger),
        onCompleted: () => undefined,
      });
    const { jobIds } = await openBatchOf(db, [askJob("a"), askJob("b")]);
    const deliveries = async () => [...(await queue.deliveryIds())].sort();
    const expected = (dispatch: number) => jobIds.map((id) => deliveryId(id, dispatch)).sort();
    await begin().run(ONCE);
    expect(await deliveries()).toEqual(expected(1));
    await flush();
    expect(await deliveries()).toEqual([]);
    // Too long ago to be on their way there.
    await db.query(
      "update nightdesk_data.jobs set dispatched_at = dispatched_at - interval '1 minute'",
    );
    const next = begin();
    await next.run(ONCE);
    await next.run(ONCE);
    expect(await deliveries()).toEqual(expected(2));
  });
});

describe("the queue", () => {
  let opened: TestDatabase;
  beforeAll(async () => {
    const [engine] = ENGINES;
    if (engine === undefined) throw new Error("there is always one in this process");
    opened = await engine.open();
  });
  afterAll(() => opened.close());

  const queueThat = (add: JobQueue["add"]): JobQueue => ({
    ...{ check: () => undefined, add, close: async () => undefined },
    ...{ countWaiting: async () => 0, deliveryIds: async () => new Set<string>() },
    work: () => {
      throw new Error("nobody works");
    },
  });

  test("is given again what it did not take, by the next look", async () => {
    const { db: database } = opened;
    const { jobIds } = await openBatchOf(database, [askJob("a")]);
    const given: string[] = [];
    const broken = queueThat(() => Promise.reject(new Error("the queue is away")));
    await expect(fillQueue({ database, queue: broken })).rejects.toThrow("away");
    const mended = queueThat(async (deliveries) => {
      given.push(...deliveries.map(({ jobId }) => jobId));
    });
    expect(await fillQueue({ database, queue: mended })).toBe(1);
    expect(given).toEqual(jobIds);
  });

  test("has before all others what somebody waits for, and the exam that all answers wait for", async () => {
    const { db: database } = opened;
    await openBatchOf(database, [askJob("later"), askJob("exam", { input: { kind: "examine" } })]);
    await openBatchOf(database, [askJob("now")], "ad_hoc");
    const places: string[] = [];
    const queue = queueThat(async (deliveries) => {
      for (const { jobId, place } of deliveries)
        places.push(`${String((await rowOf(database, jobId))["custom_id"])} ${place}`);
    });
    await fillQueue({ database, queue });
    expect(places.sort()).toEqual(["exam front", "later back", "now front"]);
  });
});
