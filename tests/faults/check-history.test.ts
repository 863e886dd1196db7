import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { settleRun } from "../../src/shared/store/jobs/settle-run.ts";
import { completeBatches } from "../../src/shared/store/jobs/batches.ts";
import { settleOutcome } from "../../src/shared/job/settlement.ts";
import {
  answered,
  askJob,
  claimNext,
  expireLease,
  FULL_RECORD,
  MADE_WITH,
  openBatchOf,
} from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import { describeOn } from "../support/describe-on.ts";
import { findContradictions, findIdleRenewals, watchLeases } from "./check-history.ts";
import { startFaultyTopology } from "./faulty-topology.ts";
import type { FaultyTopology } from "./faulty-topology.ts";

describeOn("postgres", "the history of a batch", (name) => {
  let faulty: FaultyTopology;
  beforeAll(async () => {
    faulty = await startFaultyTopology(name);
  });
  afterAll(async () => {
    await faulty.dispose();
  });

  test("has no contradiction when all went well, and each that is made is found", async () => {
    const db = faulty.onlooker;
    const { batchId, jobIds } = await openBatchOf(db, [askJob("a"), askJob("b")]);
    for (const jobId of jobIds) {
      const { runId } = await claimNext(db, jobId);
      const made = { runId, runMs: 1, ...MADE_WITH };
      await settleRun(db, made, settleOutcome(answered("yes")), FULL_RECORD);
    }
    await completeBatches(db, batchId);
    expect(await findContradictions(db, batchId)).toEqual([]);
    const [jobId = ""] = jobIds;
    await db.query(
      `insert into nightdesk_data.runs (run_id, job_id, attempt, worker_id)
       select gen_random_uuid(), job_id, 2, worker_id from nightdesk_data.runs where job_id = $1`,
      [jobId],
    );
    expect(await findContradictions(db, batchId)).toEqual([
      expect.stringMatching(/^a run that still runs: a /),
    ]);
    await db.query(
      `update nightdesk_data.batch_counts set succeeded = succeeded - 1, refused = refused + 1
        where batch_id = $1 and succeeded > 0`,
      [batchId],
    );
    expect((await findContradictions(db, batchId)).at(-1)).toMatch("counts that are not those");
  });

  test("shows whose lease was renewed while it rested", async () => {
    const db = faulty.onlooker;
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const [jobId = ""] = jobIds;
    const { runId } = await claimNext(db, jobId);
    const watch = watchLeases(db, 20);
    await eventually("the renewal is seen", async () => {
      await expireLease(db, jobId);
      return watch.renewals.length > 0;
    });
    await watch.stop();
    const movedAt = new Map([[runId, performance.now() - 60_000]]);
    expect(findIdleRenewals(watch.renewals, movedAt, 50_000)[0]).toMatch(runId);
    expect(findIdleRenewals(watch.renewals, movedAt, 90_000)).toEqual([]);
  });
});
