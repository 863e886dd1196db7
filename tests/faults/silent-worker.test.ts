import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { changeBatch } from "../../src/shared/store/jobs/batch-settings.ts";
import { claimJob } from "../../src/shared/store/jobs/claim-job.ts";
import { dispatchDueJobs } from "../../src/shared/store/jobs/dispatch.ts";
import { startWorker } from "../../src/worker/start.ts";
import type { RunningWorker } from "../../src/worker/start.ts";
import type { RunJob } from "../../src/worker/jobs/run-job.ts";
import {
  answered,
  askJob,
  countOf,
  dispatchOf,
  expireLease,
  openBatchOf,
  rowOf,
  WORKER,
} from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import type { TopologyName } from "../conformance/topologies.ts";
import { describeOn } from "../support/describe-on.ts";
import { findContradictions, findIdleRenewals, watchLeases } from "./check-history.ts";
import { startFaultyTopology } from "./faulty-topology.ts";
import type { FaultyTopology } from "./faulty-topology.ts";
import type { Proxy } from "./proxy.ts";

const JOBS = 60;
/** Two times the longest limit that may have to pass, and a busy machine. */
const RECOVERY_MS = 150_000;

// Each service fails where nothing else does; with its queue in Postgres a worker has two pools to lose.
describeOn("postgres", "workers of a service that fails", (name) => {
  testFailures(name, "database");
});
describeOn("redis+postgres", "workers of a service that fails", (name) => {
  testFailures(name, "redis");
});

function testFailures(name: TopologyName, service: "database" | "redis"): void {
  let faulty: FaultyTopology;
  const workers: RunningWorker[] = [];
  beforeAll(async () => {
    faulty = await startFaultyTopology(name);
  });
  afterEach(async () => {
    faulty.database.pass();
    faulty.redis?.pass();
    await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
    await faulty.onlooker.query("delete from nightdesk_data.batches");
  });
  afterAll(async () => {
    await faulty.dispose();
  });

  async function start(run: RunJob, concurrency = 2): Promise<void> {
    workers.push(await startWorker(faulty.context, concurrency, () => run));
  }
  const brief: RunJob = async ({ customId }) => {
    await sleep(50);
    return answered(customId);
  };
  const ended = (batchId: string) =>
    countOf(
      faulty.onlooker,
      "nightdesk_data.jobs where batch_id = $1 and finished_at is not null",
      [batchId],
    );
  const alive = () =>
    countOf(
      faulty.onlooker,
      "nightdesk_data.workers where heartbeat_at > clock_timestamp() - interval '15 s'",
    );

  async function expectWhole(batchId: string, jobs = JOBS): Promise<void> {
    await eventually(
      "all jobs have ended",
      async () => (await ended(batchId)) === jobs,
      RECOVERY_MS,
    );
    await eventually("the batch is completed", async () => {
      const of = "nightdesk_data.batches where batch_id = $1 and state = 'completed'";
      return (await countOf(faulty.onlooker, of, [batchId])) === 1;
    });
    expect(await findContradictions(faulty.onlooker, batchId)).toEqual([]);
  }

  const proxyOf = (): Proxy => {
    const proxy = faulty[service];
    if (proxy === undefined) throw new Error(`there is no ${service}`);
    return proxy;
  };

  test(
    `connect again when the ${service} goes silent, and finish every job once`,
    async () => {
      await start(brief);
      await start(brief);
      const { batchId } = await openBatchOf(
        faulty.onlooker,
        Array.from({ length: JOBS }, (_, i) => askJob(`${i}`)),
      );
      await eventually("some jobs have ended", async () => (await ended(batchId)) >= 10);
      proxyOf().muteExisting();
      await expectWhole(batchId);
      await eventually("both say that they are alive", async () => (await alive()) >= 2);
    },
    RECOVERY_MS + 60_000,
  );

  test(
    `outlive twenty rounds in which the ${service} goes away, lets them in, and says goodbye`,
    async () => {
      await start(brief);
      await start(brief);
      const { batchId } = await openBatchOf(
        faulty.onlooker,
        Array.from({ length: JOBS }, (_, i) => askJob(`${i}`)),
      );
      const proxy = proxyOf();
      for (let round = 1; round <= 20; round += 1) {
        const before = proxy.accepted();
        if (round % 2 === 0) proxy.refuse();
        else if (service === "database") {
          proxy.answerFatal({ code: "57P01", message: "terminating connection" });
        }
        proxy.cut();
        await eventually("they tried again", async () => proxy.accepted() > before);
        proxy.pass();
      }
      await expectWhole(batchId);
      await eventually("both say that they are alive", async () => (await alive()) >= 2);
    },
    RECOVERY_MS + 90_000,
  );

  if (service === "redis") {
    test("do not renew the lease of a run that rests, try it again, and have its place back", async () => {
      const ATTENTION_MS = 2_000;
      const movedAt = new Map<string, number>();
      await start(async ({ runId, attempt, customId }, trace) => {
        trace.mayTake(ATTENTION_MS);
        movedAt.set(runId, performance.now());
        return attempt === 1 && customId === "stuck"
          ? new Promise<never>(() => undefined)
          : answered(customId);
      }, 1);
      const watch = watchLeases(faulty.onlooker);
      const { batchId, jobIds } = await openBatchOf(faulty.onlooker, [
        askJob("stuck"),
        askJob("b"),
      ]);
      await expectWhole(batchId, 2);
      await watch.stop();
      // The keeper looks every 5 s; what was renewed before the limit was over may be seen a little after it.
      expect(findIdleRenewals(watch.renewals, movedAt, ATTENTION_MS + 1_000)).toEqual([]);
      expect(await rowOf(faulty.onlooker, jobIds[0] ?? "")).toMatchObject({
        state: "succeeded",
        attempt: 2,
      });
      const { rows } = await faulty.onlooker.query(
        "select error_code from nightdesk_data.runs where job_id = $1 and state = 'failed'",
        [jobIds[0]],
      );
      expect(rows).toEqual([{ error_code: "TOOL_ERROR" }]);
    }, 120_000);

    test("keep deadlines, and take back lost jobs, while there is no Redis", async () => {
      await start(brief);
      const db = faulty.onlooker;
      const lost = await openBatchOf(db, [askJob("lost")]);
      await eventually("it works", async () => (await ended(lost.batchId)) === 1);
      proxyOf().refuse();
      const late = await openBatchOf(db, [askJob("a"), askJob("b")]);
      const left = await openBatchOf(db, [askJob("left")]);
      await dispatchDueJobs(db, 1_000);
      const [jobId = ""] = left.jobIds;
      const delivery = { jobId, dispatch: await dispatchOf(db, jobId) };
      if ((await claimJob(db, delivery, WORKER)) !== undefined) await expireLease(db, jobId);
      await changeBatch(db, late.batchId, { deadlineAt: new Date() });
      const ofLate = "nightdesk_data.batches where batch_id = $1 and state = 'expired'";
      await eventually(
        "the deadline has passed",
        async () => (await countOf(db, ofLate, [late.batchId])) === 1,
      );
      await eventually(
        "the lost job is taken back",
        async () => (await rowOf(db, jobId))["state"] === "queued",
      );
      proxyOf().pass();
      await expectWhole(left.batchId, 1);
      const expired = "nightdesk_data.jobs where batch_id = $1 and state = 'expired'";
      expect(await countOf(db, expired, [late.batchId])).toBe(2);
    }, 120_000);
  }
}
