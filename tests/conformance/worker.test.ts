import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import type { ClaimedJob } from "../../src/shared/store/jobs/claim-job.ts";
import { cancelBatch } from "../../src/shared/store/jobs/close-batches.ts";
import { takeBackLostJobs } from "../../src/shared/store/jobs/dispatch.ts";
import { selectRunDetails } from "../../src/shared/views/runs.ts";
import { Failure } from "../../src/shared/failure.ts";
import type { Outcome } from "../../src/shared/job/run-result.ts";
import { startWorker } from "../../src/worker/start.ts";
import type { RunningWorker } from "../../src/worker/start.ts";
import { answered, askJob, countOf, expireLease, openBatchOf, rowOf } from "./jobs.ts";
import { eventually, signal } from "./signal.ts";
import { startTopology, topologies } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

type Work = (job: ClaimedJob, signal: AbortSignal) => Promise<Outcome>;

describe.each(topologies)("a worker on %s", (name) => {
  let topology: Topology;
  let db: Database;
  const workers: RunningWorker[] = [];
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
    await db.query("delete from nightdesk_data.batches");
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  async function start(work: Work, concurrency = 2): Promise<RunningWorker> {
    const worker = await startWorker(
      topology.context,
      concurrency,
      () => (job, _trace, aborted) => work(job, aborted),
    );
    workers.push(worker);
    return worker;
  }
  const stateIs = (jobId: string, state: string) =>
    eventually(`${jobId} is ${state}`, async () => (await rowOf(db, jobId))["state"] === state);
  const makeDue = async (jobId: string) => {
    await db.query("update nightdesk_data.jobs set due_at = now() where job_id = $1", [jobId]);
    await db.query("select pg_notify('nightdesk_jobs', '')");
  };
  const untilAborted = (aborted: AbortSignal) =>
    new Promise<never>((_, reject) => {
      aborted.addEventListener("abort", () => {
        reject(aborted.reason as Error);
      });
    });

  test("two workers do every job exactly once", async () => {
    const done: string[] = [];
    const work: Work = async (job) => {
      done.push(job.jobId);
      return answered(job.customId);
    };
    await start(work);
    await start(work);
    const { batchId, jobIds } = await openBatchOf(
      db,
      Array.from({ length: 60 }, (_, i) => askJob(`${i}`)),
    );
    await eventually(
      "the batch is completed",
      async () =>
        (await countOf(db, "nightdesk.batch_progress where batch_id = $1 and state = 'completed'", [
          batchId,
        ])) === 1,
    );
    expect([...done].sort()).toEqual([...jobIds].sort());
    expect(
      await countOf(
        db,
        "nightdesk_data.runs where state = 'succeeded' and job_id = any($1::uuid[])",
        [jobIds],
      ),
    ).toBe(60);
  });

  test("a run keeps the file and the roots that its worker had", async () => {
    await start(async () => answered("yes"));
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const [jobId = ""] = jobIds;
    await stateIs(jobId, "succeeded");
    const [run] = await selectRunDetails(db, jobId);
    expect(run).toMatchObject({
      config_file: topology.configFile,
      roots: {
        workroot: topology.workroot,
        allowed: ["allowed/"],
        sources: { corpus: "allowed/corpus", scratch: "allowed/scratch" },
      },
    });
  });

  test("a batch that is opened wakes an idle worker", async () => {
    // Without the notification it would take the second between two looks. A busy machine has three tries.
    let fastest = Number.POSITIVE_INFINITY;
    for (let tries = 0; tries < 3 && fastest >= 900; tries += 1) {
      const worker = await start(async () => answered("yes"));
      const openedAt = performance.now();
      const { jobIds } = await openBatchOf(db, [askJob("a")], "ad_hoc");
      await stateIs(jobIds[0] ?? "", "succeeded");
      fastest = Math.min(fastest, performance.now() - openedAt);
      await worker.stop(0);
      workers.splice(workers.indexOf(worker), 1);
    }
    expect(fastest).toBeLessThan(900);
  });

  test("cancelling aborts the run in hand and stores that", async () => {
    const begun = signal();
    await start(async (_, aborted) => {
      begun.resolve();
      return untilAborted(aborted);
    });
    const { batchId, jobIds } = await openBatchOf(db, [askJob("a")]);
    await begun.promise;
    const cancelledAt = performance.now();
    await cancelBatch(db, batchId);
    await stateIs(jobIds[0] ?? "", "cancelled");
    expect(performance.now() - cancelledAt).toBeLessThan(1_000);
  });

  test("a worker that stops hands back what runs, and another does it", async () => {
    const begun = signal();
    const first = await start(async (_, aborted) => {
      begun.resolve();
      return untilAborted(aborted);
    });
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    await begun.promise;
    await first.stop(0);
    workers.splice(workers.indexOf(first), 1);
    expect(await rowOf(db, jobIds[0] ?? "")).toMatchObject({ state: "queued", attempt: 0 });
    await start(async () => answered("by the second"));
    await stateIs(jobIds[0] ?? "", "succeeded");
  });

  test("a host that is down parks the job, and it goes on when the host is back", async () => {
    let isDown = true;
    await start(async () => {
      if (isDown) throw new Failure("MODEL_UNREACHABLE", "connection refused");
      return answered("yes");
    });
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const jobId = jobIds[0] ?? "";
    await stateIs(jobId, "parked");
    isDown = false;
    await makeDue(jobId);
    await stateIs(jobId, "succeeded");
    expect(await rowOf(db, jobId)).toMatchObject({ attempt: 1, parks: 1, error_code: null });
  });

  test("a fault is tried again until the attempts are used up, and each try is a run", async () => {
    await start(async () => {
      throw new Error("broken on purpose");
    });
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const jobId = jobIds[0] ?? "";
    for (const runs of [1, 2, 3]) {
      await eventually(
        `run ${runs} has ended`,
        async () =>
          (await countOf(db, "nightdesk_data.runs where job_id = $1 and state = 'failed'", [
            jobId,
          ])) === runs,
      );
      if (runs < 3) await makeDue(jobId);
    }
    expect(await rowOf(db, jobId)).toMatchObject({ state: "failed", error_code: "INTERNAL_ERROR" });
  });

  test("a run that lost its lease is aborted, and its result is dropped", async () => {
    const [begun, mayEnd, ended] = [signal(), signal(), signal()];
    let calls = 0;
    await start(async () => {
      calls += 1;
      if (calls > 1) return answered("second");
      begun.resolve();
      await mayEnd.promise;
      ended.resolve();
      return answered("first");
    });
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const jobId = jobIds[0] ?? "";
    await begun.promise;
    await expireLease(db, jobId);
    await takeBackLostJobs(db);
    await stateIs(jobId, "succeeded");
    mayEnd.resolve();
    await ended.promise;
    await eventually(
      "the first run is on record as lost",
      async () =>
        (await countOf(db, "nightdesk_data.runs where job_id = $1 and state = 'lost'", [jobId])) ===
        1,
    );
    const { rows } = await db.query("select answer from nightdesk.results where job_id = $1", [
      jobId,
    ]);
    expect(rows).toEqual([{ answer: "second" }]);
  });

  test("a worker outlives the loss of its database connections", async () => {
    await start(async () => answered("yes"));
    const before = await openBatchOf(db, [askJob("before")]);
    await stateIs(before.jobIds[0] ?? "", "succeeded");
    await topology.breakConnections();
    await eventually("the database answers again", async () => {
      return db.query("select 1").then(
        () => true,
        () => false,
      );
    });
    const after = await openBatchOf(db, [askJob("after")]);
    await stateIs(after.jobIds[0] ?? "", "succeeded");
  });
});
