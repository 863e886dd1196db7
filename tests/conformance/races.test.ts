import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import {
  completeBatches,
  findOrCreateBatch,
  openBatch,
} from "../../src/shared/store/jobs/batches.ts";
import { claimJob, renewLeases } from "../../src/shared/store/jobs/claim-job.ts";
import { cancelBatch } from "../../src/shared/store/jobs/close-batches.ts";
import { dispatchDueJobs, takeBackLostJobs } from "../../src/shared/store/jobs/dispatch.ts";
import { insertJobs } from "../../src/shared/store/jobs/insert-jobs.ts";
import { isSettled, settleRun } from "../../src/shared/store/jobs/settle-run.ts";
import { settleOutcome } from "../../src/shared/job/settlement.ts";
import type { Settlement } from "../../src/shared/job/settlement.ts";
import {
  answered,
  askJob,
  claimNext,
  countOf,
  dispatchOf,
  EMPTY_RECORD,
  MADE_WITH,
} from "./jobs.ts";
import { expireLease, openBatchOf, rowOf, WORKER } from "./jobs.ts";
import { signal } from "./signal.ts";
import { databases, startTopology } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

describe.each(databases)("races on %s", (name) => {
  let topology: Topology;
  let db: Database;
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  const settle = (runId: string, settlement: Settlement) =>
    settleRun(db, { runId, runMs: 5, ...MADE_WITH }, settlement, EMPTY_RECORD);
  const succeed = (runId: string) => settle(runId, settleOutcome(answered("yes")));

  test("a claim that is repeated after its reply was lost finds the run it made", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const jobId = jobIds[0] ?? "";
    await dispatchDueJobs(db, 1_000);
    const delivery = { jobId, dispatch: await dispatchOf(db, jobId) };
    const runId = randomUUID();
    const first = await claimJob(db, delivery, WORKER, runId);
    expect(await claimJob(db, delivery, WORKER, runId)).toEqual(first);
    expect(await claimJob(db, delivery, WORKER, randomUUID())).toBeUndefined();
    expect(await countOf(db, "nightdesk_data.runs where job_id = $1", [jobId])).toBe(1);
  });

  test("a result whose reply was lost is not mistaken for one that came too late", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a"), askJob("b")]);
    const stored = await claimNext(db, jobIds[0] ?? "");
    await succeed(stored.runId);
    expect(await succeed(stored.runId)).toBeUndefined();
    expect(await isSettled(db, stored.runId)).toBe(true);
    const late = await claimNext(db, jobIds[1] ?? "");
    await expireLease(db, late.jobId);
    await takeBackLostJobs(db);
    expect(await succeed(late.runId)).toBeUndefined();
    expect(await isSettled(db, late.runId)).toBe(false);
  });

  test.each<Settlement>([
    { kind: "handed_back" },
    { kind: "parked", code: "MODEL_UNREACHABLE", message: "down", delayMs: 1_000, host: null },
    { kind: "retry", code: "MODEL_TIMEOUT", message: "slow", delayMs: 1_000 },
  ])("a run that ends as $kind when its batch was cancelled leaves no job behind", async (end) => {
    const { batchId, jobIds } = await openBatchOf(db, [askJob("a")]);
    const job = await claimNext(db, jobIds[0] ?? "");
    await cancelBatch(db, batchId);
    await settle(job.runId, end);
    expect(await rowOf(db, job.jobId)).toMatchObject({
      state: "cancelled",
      error_code: "CANCELLED",
    });
  });

  test("a result that is ready when its batch is cancelled is kept", async () => {
    const { batchId, jobIds } = await openBatchOf(db, [askJob("a")]);
    const job = await claimNext(db, jobIds[0] ?? "");
    await cancelBatch(db, batchId);
    await succeed(job.runId);
    expect(await rowOf(db, job.jobId)).toMatchObject({ state: "succeeded", error_code: null });
  });

  test("jobs that are being inserted when their batch is cancelled are cancelled with it", async () => {
    const { batchId } = await findOrCreateBatch(db, randomUUID(), "file");
    const [inserted, mayCommit] = [signal(), signal()];
    const loading = db.transaction(async (tx) => {
      await insertJobs(tx, batchId, [askJob("a")]);
      inserted.resolve();
      await mayCommit.promise;
    });
    await inserted.promise;
    const cancelled = cancelBatch(db, batchId);
    mayCommit.resolve();
    await Promise.all([loading, cancelled]);
    const left = "nightdesk_data.jobs where batch_id = $1 and finished_at is null";
    expect(await countOf(db, left, [batchId])).toBe(0);
  });

  test("a cancelled batch takes no more jobs, and does not open", async () => {
    const { batchId } = await findOrCreateBatch(db, randomUUID(), "file");
    await cancelBatch(db, batchId);
    await expect(insertJobs(db, batchId, [askJob("a")])).rejects.toMatchObject({
      code: "CANCELLED",
    });
    await openBatch(db, batchId);
    expect(
      await countOf(db, "nightdesk_data.batches where batch_id = $1 and state = 'cancelled'", [
        batchId,
      ]),
    ).toBe(1);
  });

  test("a batch of one name is created once, however many ask for it at once", async () => {
    for (let round = 0; round < 10; round += 1) {
      const wanted = `night ${randomUUID()}`;
      const found = await Promise.all(
        Array.from({ length: 8 }, () => findOrCreateBatch(db, wanted, "file")),
      );
      expect(found.filter(({ created }) => created)).toHaveLength(1);
      expect(new Set(found.map(({ batchId }) => batchId)).size).toBe(1);
    }
  });

  test("a job has one run at a time, whoever writes it", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const { jobId } = await claimNext(db, jobIds[0] ?? "");
    await expect(
      db.query(
        "insert into nightdesk_data.runs (run_id, job_id, attempt, worker_id) values ($1, $2, 2, $3)",
        [randomUUID(), jobId, WORKER],
      ),
    ).rejects.toMatchObject({ code: "23505" });
  });

  test("counts follow the rows when batches end, lose workers and are cancelled at once", async () => {
    const size = 60;
    const batches = await Promise.all(
      Array.from({ length: 4 }, () =>
        openBatchOf(
          db,
          Array.from({ length: size }, (_, i) => askJob(`${i}`, { priority: i % 3 })),
        ),
      ),
    );
    const due = [...(await dispatchDueJobs(db, 4 * size))];
    const work = async () => {
      for (let next = due.pop(); next !== undefined; next = due.pop()) {
        const job = await claimJob(db, next, WORKER);
        if (job === undefined) continue;
        await renewLeases(db, [job.runId]);
        if (next.jobId.endsWith("0")) await expireLease(db, job.jobId);
        else await succeed(job.runId);
      }
    };
    const upkeep = async () => {
      while (due.length > 0) {
        await Promise.all([takeBackLostJobs(db), takeBackLostJobs(db), completeBatches(db, null)]);
        await dispatchDueJobs(db, 4 * size);
      }
    };
    const cancel = async () => {
      for (const { batchId } of batches.slice(0, 2)) {
        await Promise.all([cancelBatch(db, batchId), cancelBatch(db, batchId)]);
      }
    };
    await Promise.all([work(), work(), work(), work(), upkeep(), cancel()]);
    await takeBackLostJobs(db);

    const { rows } = await db.query(
      `select p.batch_id from nightdesk.batch_progress p
        cross join lateral (
          select count(*) filter (where state = 'queued') as queued,
                 count(*) filter (where state = 'running') as running,
                 count(*) filter (where state = 'succeeded') as succeeded,
                 count(*) filter (where state = 'failed') as failed,
                 count(*) filter (where state = 'cancelled') as cancelled, count(*) as total
            from nightdesk_data.jobs j where j.batch_id = p.batch_id) c
        where (p.queued, p.running, p.succeeded, p.failed, p.cancelled, p.total)
              is distinct from (c.queued, c.running, c.succeeded, c.failed, c.cancelled, c.total)`,
    );
    expect(rows).toEqual([]);
  });
});
