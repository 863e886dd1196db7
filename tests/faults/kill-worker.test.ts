import { cp } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { Redis } from "ioredis";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { askJob, countOf, openBatchOf } from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import { startTopology, topologies } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { start } from "../deploy/spawned.ts";
import type { Spawned } from "../deploy/spawned.ts";
import { startLocalRedis } from "../services/local-redis.js";

const packageRoot = resolve(import.meta.dirname, "..", "..");
const bin = join(packageRoot, "bin", "nightdesk.js");
const JOBS = 200;

describe.each(topologies)("a batch of 200 jobs on %s", (name) => {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function prepare(
    overrides = {},
  ): Promise<{ topology: Topology; db: Database; batchId: string }> {
    const topology = await startTopology(name, overrides);
    closers.push(() => topology.dispose());
    await cp(
      join(packageRoot, "examples", "corpus"),
      join(topology.workroot, "allowed", "corpus"),
      { recursive: true },
    );
    const db = await topology.connect();
    closers.push(() => db.end());
    const { ended } = run(topology, "index", "--no-embed");
    // One that finds nothing to do ends before the job is queued.
    await eventually(
      "the index is queued",
      async () => (await countOf(db, "nightdesk_data.jobs where kind = 'index'")) > 0,
    );
    const worker = run(topology, "worker", "--drain");
    expect((await ended).exitCode).toBe(0);
    await worker.ended;
    const questions = [
      "Who repairs the brakes?",
      "What does the price list say?",
      "When is the meeting?",
    ];
    const { batchId } = await openBatchOf(
      db,
      Array.from({ length: JOBS }, (_, i) =>
        askJob(`q${i}`, { input: { kind: "ask", question: `${questions[i % 3] ?? ""} (${i})` } }),
      ),
    );
    return { topology, db, batchId };
  }

  function run(topology: Topology, ...words: string[]): Spawned {
    const spawned = start([process.execPath, bin, ...words, "--config", topology.configFile], {
      cwd: topology.workroot,
      env: { PATH: process.env["PATH"] ?? "" },
    });
    closers.push(async () => {
      spawned.kill("SIGKILL");
      await spawned.ended;
    });
    return spawned;
  }

  const ended = (db: Database, batchId: string) =>
    countOf(db, "nightdesk_data.jobs where batch_id = $1 and finished_at is not null", [batchId]);

  async function expectEveryJobOnce(db: Database, batchId: string): Promise<void> {
    await eventually(
      "all jobs have ended",
      async () => (await ended(db, batchId)) === JOBS,
      90_000,
    );
    expect(
      await countOf(
        db,
        `(select job_id from nightdesk_data.jobs j join nightdesk_data.runs r using (job_id)
           where batch_id = $1 and r.state in ('succeeded', 'refused')
           group by job_id having count(*) = 1) once`,
        [batchId],
      ),
    ).toBe(JOBS);
    await eventually("the batch is completed", async () => {
      const { rows } = await db.query(
        `select state, total, succeeded + refused as ended from nightdesk.batch_progress where batch_id = $1`,
        [batchId],
      );
      const [row] = rows as { state: string; total: string; ended: string }[];
      return row?.state === "completed" && row.total === `${JOBS}` && row.ended === `${JOBS}`;
    });
  }

  if (name === "postgres") {
    test("survives kill -9 of the worker in its middle, and a restart", async () => {
      const { topology, db, batchId } = await prepare();
      const first = run(topology, "worker", "--concurrency", "2");
      await eventually("some jobs have ended", async () => (await ended(db, batchId)) >= 20);
      first.kill("SIGKILL");
      await first.ended;
      expect(await ended(db, batchId)).toBeLessThan(JOBS);
      run(topology, "worker", "--concurrency", "2");
      await expectEveryJobOnce(db, batchId);
    }, 180_000);
  }

  if (name === "embedded") {
    test("survives kill -9 of the database process in its middle", async () => {
      const { topology, db, batchId } = await prepare();
      run(topology, "worker", "--concurrency", "2");
      await eventually("some jobs have ended", async () => (await ended(db, batchId)) >= 20);
      await topology.breakConnections();
      await eventually("the database answers again", () =>
        db.query("select 1").then(
          () => true,
          () => false,
        ),
      );
      await expectEveryJobOnce(db, batchId);
    }, 180_000);
  }

  if (name === "redis+postgres") {
    test("survives FLUSHALL in its middle, without a restart", async () => {
      // A Redis of its own: FLUSHALL would take the queues of other tests along.
      const service = await startLocalRedis();
      if (service === null) throw new Error("redis-server is not on the PATH");
      closers.push(async () => {
        await service.stop();
      });
      const { topology, db, batchId } = await prepare({
        queue: { backend: "redis", redis_url: service.url },
      });
      run(topology, "worker", "--concurrency", "2");
      await eventually("some jobs have ended", async () => (await ended(db, batchId)) >= 20);
      const redis = new Redis(service.url);
      await redis.flushall();
      await redis.quit();
      expect(await ended(db, batchId)).toBeLessThan(JOBS);
      await expectEveryJobOnce(db, batchId);
    }, 180_000);
  }
});
