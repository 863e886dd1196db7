import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { changeBatch } from "../../src/shared/store/jobs/batch-settings.ts";
import { dispatchDueJobs } from "../../src/shared/store/jobs/dispatch.ts";
import { insertJobs } from "../../src/shared/store/jobs/insert-jobs.ts";
import type { NewJob } from "../../src/shared/store/jobs/insert-jobs.ts";
import { hasWork } from "../../src/shared/store/jobs/waiting.ts";
import { createQueueDepth } from "../../src/worker/services/dispatcher.ts";
import { askJob, openBatchOf } from "./jobs.ts";
import { databases, startTopology } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

const jobsOf = (count: number, prefix: string, overrides: Partial<NewJob> = {}): NewJob[] =>
  Array.from({ length: count }, (_, n) => askJob(`${prefix}${n}`, overrides));

describe.each(databases)("the order of jobs on %s", (name) => {
  let topology: Topology;
  let db: Database;
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
  });
  afterEach(async () => {
    await db.query("delete from nightdesk_data.batches");
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  /** custom_ids in the order in which they were dispatched. */
  async function dispatch(depth: number, given = 0): Promise<string[]> {
    const due = await dispatchDueJobs(db, depth, given);
    const { rows } = await db.query("select job_id, custom_id from nightdesk_data.jobs");
    const names = new Map(
      (rows as { job_id: string; custom_id: string }[]).map((row) => [row.job_id, row.custom_id]),
    );
    return due.map(({ jobId }) => names.get(jobId) ?? "");
  }

  /** The oldest deliveries are taken off the queue, as workers do. */
  const take = (count: number) =>
    db.query(
      `update nightdesk_data.jobs set state = 'cancelled', error_code = 'CANCELLED', error_message = 'taken',
              dispatched_at = null, finished_at = now()
        where job_id in (select job_id from nightdesk_data.jobs where dispatched_at is not null
                          order by dispatched_at, seq limit $1)`,
      [count],
    );

  test("is by priority, then by model, then by size, then as they came", async () => {
    await openBatchOf(db, [
      askJob("big", { affinity: "a", size: 900 }),
      askJob("other model", { affinity: "b", size: 1 }),
      askJob("small", { affinity: "a", size: 10 }),
      askJob("small, later", { affinity: "a", size: 10 }),
      askJob("first", { affinity: "z", size: 999, priority: 1 }),
    ]);
    expect(await dispatch(100)).toEqual(["first", "small", "small, later", "big", "other model"]);
  });

  test("keeps the queue shallow, and the rest waits in the rows", async () => {
    await openBatchOf(db, jobsOf(12, "a"));
    expect(await dispatch(5)).toHaveLength(5);
    expect(await dispatch(5)).toEqual([]);
  });

  test("adds the priority of the batch to that of the job, and changes with it", async () => {
    const low = await openBatchOf(db, jobsOf(1, "low", { priority: 3 }));
    await openBatchOf(db, jobsOf(1, "high", { priority: 4 }));
    await changeBatch(db, low.batchId, { priority: 2 });
    expect(await dispatch(100)).toEqual(["low0", "high0"]);
  });

  test("puts what somebody waits for before everything else", async () => {
    await openBatchOf(db, jobsOf(1, "bulk", { priority: 100 }));
    await openBatchOf(db, jobsOf(1, "ask"), "ad_hoc");
    expect(await dispatch(100)).toEqual(["ask0", "bulk0"]);
  });

  test("lets batches of equal priority take turns in blocks", async () => {
    await openBatchOf(db, jobsOf(60, "a"));
    await openBatchOf(db, jobsOf(60, "b"));
    const first = await dispatch(80);
    expect(first.slice(0, 10).every((id) => id.startsWith("a"))).toBe(true);
    expect(first.slice(10, 20).every((id) => id.startsWith("b"))).toBe(true);
    expect(first.filter((id) => id.startsWith("a"))).toHaveLength(40);
  });

  test("gives a batch that comes later its share of a queue that another has filled", async () => {
    await openBatchOf(db, jobsOf(200, "a"));
    await dispatch(40);
    await openBatchOf(db, jobsOf(200, "b"));
    const later: string[] = [];
    for (let round = 0; round < 10; round += 1) {
      await take(8);
      later.push(...(await dispatch(40)));
    }
    const ofB = later.filter((id) => id.startsWith("b")).length;
    expect(ofB).toBeGreaterThanOrEqual(36);
    expect(ofB).toBeLessThanOrEqual(60);
  });

  test("gives the job that has waited longest its turn in a stream of urgent ones", async () => {
    const stream = await openBatchOf(db, jobsOf(40, "urgent-", { priority: 9 }));
    await openBatchOf(db, [
      askJob("patient", { priority: -9, size: 1_000_000 }),
      ...jobsOf(30, "p"),
    ]);
    let given = 0;
    const seen: string[] = [];
    while (seen.length < 200) {
      await insertJobs(db, stream.batchId, jobsOf(10, `urgent-${seen.length}-`, { priority: 9 }));
      const some = await dispatch(10, given);
      given += some.length;
      seen.push(...some);
      await take(10);
    }
    expect(seen.indexOf("patient")).toBeLessThan(100);
    const lower = seen.filter((id) => !id.startsWith("urgent")).length;
    // The stream's own first jobs are as old, and take some of the places.
    expect(seen.length - lower).toBeGreaterThanOrEqual(180);
  });

  test("leaves out a job that waits for others, which is no work either", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("parent")]);
    await db.query("update nightdesk_data.jobs set waits_for = 1 where job_id = $1", jobIds);
    expect(await dispatch(100)).toEqual([]);
    expect(await hasWork(db)).toBe(false);
    await db.query("update nightdesk_data.jobs set waits_for = 0");
    expect(await hasWork(db)).toBe(true);
    expect(await dispatch(100)).toEqual(["parent"]);
  });
});

describe("the depth of the queue", () => {
  test("grows while each look finds half of it gone, and shrinks when little is", () => {
    const depth = createQueueDepth();
    for (let look = 0; look < 4; look += 1) depth.filled(depth.jobs());
    expect(depth.jobs()).toBe(1_000);
    for (let look = 0; look < 5; look += 1) depth.filled(1);
    expect(depth.jobs()).toBe(500);
    for (let look = 0; look < 50; look += 1) depth.filled(0);
    expect(depth.jobs()).toBe(200);
  });
});
