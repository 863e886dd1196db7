import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import {
  changeBatch,
  pauseBatch,
  resumeBatch,
} from "../../src/shared/store/jobs/batch-settings.ts";
import {
  completeBatches,
  findOrCreateBatch,
  openBatch,
} from "../../src/shared/store/jobs/batches.ts";
import { claimJob, renewLeases } from "../../src/shared/store/jobs/claim-job.ts";
import {
  cancelBatch,
  endSlice,
  endWaitingJobs,
  expireBatches,
} from "../../src/shared/store/jobs/close-batches.ts";
import type { Slice } from "../../src/shared/store/jobs/close-batches.ts";
import { dispatchDueJobs, takeBackLostJobs } from "../../src/shared/store/jobs/dispatch.ts";
import { HOLD_RULES, evaluateHolds, setDefaultWindows } from "../../src/shared/store/jobs/holds.ts";
import type { HoldRule } from "../../src/shared/store/jobs/holds.ts";
import { insertJobs } from "../../src/shared/store/jobs/insert-jobs.ts";
import { findBatch } from "../../src/shared/views/batches.ts";
import { hasWork } from "../../src/shared/store/jobs/waiting.ts";
import { retryJobs } from "../../src/shared/store/jobs/retry-jobs.ts";
import { settleRun } from "../../src/shared/store/jobs/settle-run.ts";
import { settleError, settleOutcome } from "../../src/shared/job/settlement.ts";
import type { Settlement } from "../../src/shared/job/settlement.ts";
import { RunAborted } from "../../src/shared/job/settlement.ts";
import {
  answered,
  askJob,
  claimNext,
  dispatchOf,
  EMPTY_RECORD,
  expireLease,
  MADE_WITH,
  openBatchOf,
  rowOf,
  WORKER,
} from "./jobs.ts";
import { databases, startTopology } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

const [PAUSED, WINDOW] = ["paused", "window"].map((reason) =>
  HOLD_RULES.find((rule) => rule.reason === reason),
) as [HoldRule, HoldRule];
const FAILED: Settlement = { kind: "failed", code: "MODEL_NOT_FOUND", message: "No such model." };
const SECOND = 1_000;
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * SECOND);

/** `HH:MM-HH:MM UTC`, from minutes relative to now. */
const windowAround = (from: number, to: number): string =>
  `${[from, to]
    .map((minutes) =>
      inSeconds(minutes * 60)
        .toISOString()
        .slice(11, 16),
    )
    .join("-")} UTC`;
const OPEN_NOW = windowAround(-60, 60);
const CLOSED_NOW = windowAround(60, 120);

describe.each(databases)("the life of a batch on %s", (name) => {
  let topology: Topology;
  let db: Database;
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
  });
  afterEach(async () => {
    await db.query("delete from nightdesk_data.batches");
    await setDefaultWindows(db, []);
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  const settle = (runId: string, settlement: Settlement) =>
    settleRun(db, { runId, runMs: 5, ...MADE_WITH }, settlement, EMPTY_RECORD);
  const batchOf = async (batchId: string) => {
    const batch = await findBatch(db, batchId);
    if (batch === undefined) throw new Error("no batch");
    return batch;
  };
  const claim = async (jobId: string) =>
    claimJob(db, { jobId, dispatch: await dispatchOf(db, jobId) }, WORKER);
  const setDeadline = (batchId: string, time: Date) =>
    changeBatch(db, batchId, { deadlineAt: time });

  describe("that is paused", () => {
    test("gives nothing out, frees its places in the queue, and goes on when it is resumed", async () => {
      const { batchId, jobIds } = await openBatchOf(db, [askJob("a"), askJob("b")]);
      expect(await dispatchDueJobs(db, 1_000)).toHaveLength(2);
      expect(await pauseBatch(db, batchId)).toBe("paused");
      expect(await claim(jobIds[0] ?? "")).toBeUndefined();
      await evaluateHolds(db);
      expect(await batchOf(batchId)).toMatchObject({ state: "held", holdReason: "paused" });
      expect((await rowOf(db, jobIds[0] ?? ""))["dispatched_at"]).toBeNull();
      expect(await dispatchDueJobs(db, 1_000)).toEqual([]);
      expect(await hasWork(db)).toBe(false);
      expect(await pauseBatch(db, batchId)).toBe("paused_before");
      expect(await resumeBatch(db, batchId)).toBe("resumed");
      await evaluateHolds(db);
      expect(await dispatchDueJobs(db, 1_000)).toHaveLength(2);
      expect(await resumeBatch(db, batchId)).toBe("not_paused");
    });

    test("while it loads is held as soon as it opens", async () => {
      const { batchId } = await findOrCreateBatch(db, "loads", "file");
      await insertJobs(db, batchId, [askJob("a")]);
      await pauseBatch(db, batchId);
      await openBatch(db, batchId);
      expect(await dispatchDueJobs(db, 1_000)).toEqual([]);
    });

    test("lets what runs finish", async () => {
      const { batchId, jobIds } = await openBatchOf(db, [askJob("a"), askJob("b")]);
      const job = await claimNext(db, jobIds[0] ?? "");
      await pauseBatch(db, batchId);
      await evaluateHolds(db);
      expect(await settle(job.runId, settleOutcome(answered("yes")))).toBeDefined();
    });

    test("says so before any other reason; a reason that no rule knows is left to whoever set it", async () => {
      const { batchId } = await openBatchOf(db, [askJob("a")]);
      const reasons = async (now: Date) => {
        await evaluateHolds(db, now, [PAUSED, WINDOW]);
        return (await batchOf(batchId)).holdReason;
      };
      await db.query("update nightdesk_data.batches set hold_reason = 'budget'");
      expect(await reasons(new Date())).toBe("budget");
      await changeBatch(db, batchId, { windows: [CLOSED_NOW] });
      expect(await reasons(new Date())).toBe("window");
      await pauseBatch(db, batchId);
      expect(await reasons(new Date())).toBe("paused");
      await resumeBatch(db, batchId);
      expect(await reasons(inSeconds(61 * 60))).toBeNull();
    });
  });

  describe("with windows", () => {
    test("is held outside of them until the next opens, and goes on then", async () => {
      const { batchId, jobIds } = await openBatchOf(db, [askJob("a")]);
      await changeBatch(db, batchId, { windows: [CLOSED_NOW] });
      // Nobody has looked at the window yet.
      expect(await dispatchDueJobs(db, 1_000)).toEqual([]);
      const [held] = await evaluateHolds(db);
      expect(held).toMatchObject({ batchId, reason: "window" });
      const opensIn = (held?.until?.getTime() ?? 0) - Date.now();
      expect(held?.until?.toISOString().slice(11)).toBe(`${CLOSED_NOW.slice(0, 5)}:00.000Z`);
      expect(opensIn).toBeGreaterThan(0);
      expect(opensIn).toBeLessThanOrEqual(60 * 60 * SECOND);
      expect(await evaluateHolds(db)).toEqual([]);
      expect(await hasWork(db)).toBe(false);
      expect(await evaluateHolds(db, inSeconds(61 * 60))).toMatchObject([
        { batchId, reason: null },
      ]);
      expect(await dispatchDueJobs(db, 1_000)).toHaveLength(1);
      expect(await claim(jobIds[0] ?? "")).toBeDefined();
    });

    test("lets no job start at its end, whatever the keeper does", async () => {
      const { batchId, jobIds } = await openBatchOf(db, [askJob("a"), askJob("b")]);
      await changeBatch(db, batchId, { windows: [OPEN_NOW] });
      await evaluateHolds(db);
      await dispatchDueJobs(db, 1_000);
      const first = await claim(jobIds[0] ?? "");
      await db.query("update nightdesk_data.batches set closes_at = clock_timestamp()");
      expect(await claim(jobIds[1] ?? "")).toBeUndefined();
      expect(await settle(first?.runId ?? "", settleOutcome(answered("yes")))).toBeDefined();
    });

    test("of the desk is held by them, unless it has its own or none", async () => {
      expect(await setDefaultWindows(db, [CLOSED_NOW])).toEqual([]);
      expect(await setDefaultWindows(db, [CLOSED_NOW])).toEqual([CLOSED_NOW]);
      const desk = await openBatchOf(db, [askJob("a")]);
      const own = await openBatchOf(db, [askJob("a")]);
      const always = await openBatchOf(db, [askJob("a")]);
      await changeBatch(db, own.batchId, { windows: [OPEN_NOW] });
      await changeBatch(db, always.batchId, { windows: [] });
      // What is always open needs no look.
      expect(await dispatchDueJobs(db, 1_000)).toMatchObject([{ jobId: always.jobIds[0] }]);
      await evaluateHolds(db);
      expect(await dispatchDueJobs(db, 1_000)).toMatchObject([{ jobId: own.jobIds[0] }]);
      expect(await batchOf(desk.batchId)).toMatchObject({ holdReason: "window", windows: null });
      await setDefaultWindows(db, []);
      await evaluateHolds(db);
      expect(await dispatchDueJobs(db, 1_000)).toMatchObject([{ jobId: desk.jobIds[0] }]);
    });

    test("that is always open is never closed", async () => {
      const { batchId } = await openBatchOf(db, [askJob("a")]);
      await changeBatch(db, batchId, { windows: ["00:00-24:00 UTC"] });
      await evaluateHolds(db);
      expect(await evaluateHolds(db)).toEqual([]);
      expect(await dispatchDueJobs(db, 1_000)).toHaveLength(1);
    });
  });

  describe("with a deadline", () => {
    test("expires what has not finished, asks what runs to stop, and keeps what is finished", async () => {
      const jobs = ["done", "runs", "waits", "parked"].map((id) => askJob(id));
      const { batchId, jobIds } = await openBatchOf(db, jobs);
      const [done = "", runs = "", waits = "", parkedId = ""] = jobIds;
      await settle((await claimNext(db, done)).runId, settleOutcome(answered("yes")));
      const parked = await claimNext(db, parkedId);
      const down = { code: "MODEL_UNREACHABLE", message: "down", delayMs: 60_000, host: null };
      await settle(parked.runId, { kind: "parked", ...down } as Settlement);
      const running = await claimNext(db, runs);
      await setDeadline(batchId, inSeconds(-1));
      expect(await claim(waits)).toBeUndefined();
      expect(await expireBatches(db)).toEqual([{ batchId, origin: "file" }]);
      expect(await hasWork(db)).toBe(true);
      await endWaitingJobs(db, batchId);
      expect((await renewLeases(db, [running.runId])).stops.get(running.runId)).toBe("expired");
      const aborted = settleError(new RunAborted("expired"), running);
      await settle(running.runId, aborted ?? FAILED);
      expect(await batchOf(batchId)).toMatchObject({
        state: "expired",
        counts: { succeeded: 1, expired: 3 },
      });
      expect(await rowOf(db, waits)).toMatchObject({ error_code: "DEADLINE_EXCEEDED" });
      expect(await hasWork(db)).toBe(false);
    });

    test("is completed when everything had finished before", async () => {
      const { batchId, jobIds } = await openBatchOf(db, [askJob("a")]);
      await settle((await claimNext(db, jobIds[0] ?? "")).runId, settleOutcome(answered("yes")));
      await setDeadline(batchId, inSeconds(-1));
      expect(await expireBatches(db)).toEqual([]);
      await completeBatches(db, null);
      expect((await batchOf(batchId)).state).toBe("completed");
    });

    test.each<Settlement>([
      { kind: "handed_back" },
      { kind: "parked", code: "MODEL_UNREACHABLE", message: "down", delayMs: 1_000, host: null },
      { kind: "retry", code: "MODEL_TIMEOUT", message: "slow", delayMs: 1_000 },
    ])("leaves no job behind that ends as $kind", async (end) => {
      const { batchId, jobIds } = await openBatchOf(db, [askJob("a")]);
      const job = await claimNext(db, jobIds[0] ?? "");
      await setDeadline(batchId, inSeconds(-1));
      await expireBatches(db);
      await settle(job.runId, end);
      expect(await rowOf(db, job.jobId)).toMatchObject({
        state: "expired",
        error_code: "DEADLINE_EXCEEDED",
      });
    });

    test("expires what a worker died with", async () => {
      const { batchId, jobIds } = await openBatchOf(db, [askJob("a")]);
      const job = await claimNext(db, jobIds[0] ?? "");
      await setDeadline(batchId, inSeconds(-1));
      await expireBatches(db);
      await expireLease(db, job.jobId);
      await takeBackLostJobs(db);
      expect(await rowOf(db, job.jobId)).toMatchObject({ state: "expired" });
    });

    test("goes by another clock when one is given", async () => {
      const { batchId } = await openBatchOf(db, [askJob("a")]);
      await setDeadline(batchId, inSeconds(3_600));
      expect(await expireBatches(db, inSeconds(3_599))).toEqual([]);
      expect(await expireBatches(db, inSeconds(3_600))).toHaveLength(1);
    });
  });

  describe("that is cancelled", () => {
    test("is closed at once, and ended slice by slice by whoever comes first", async () => {
      const jobs = Array.from({ length: 5_050 }, (_, n) => askJob(String(n)));
      const { batchId, jobIds } = await openBatchOf(db, jobs);
      const running = await claimNext(db, jobIds[7] ?? "");
      // The command died after the first of its transactions.
      await db.query(
        "update nightdesk_data.batches set state = 'cancelled', finished_at = now(), closing = true",
      );
      expect(await claim(jobIds[8] ?? "")).toBeUndefined();
      expect(await dispatchDueJobs(db, 1_000)).toEqual([]);
      expect(await hasWork(db)).toBe(true);
      const slice = await endSlice(db, batchId);
      expect(slice).toMatchObject({ jobs: 5_000 });
      expect((await batchOf(batchId)).counts).toMatchObject({ queued: 50, running: 1 });
      const { after } = slice as Slice;
      expect(await endSlice(db, batchId, after)).toMatchObject({ jobs: 50 });
      await endWaitingJobs(db, batchId);
      expect(await endSlice(db, batchId)).toBe("done");
      expect((await renewLeases(db, [running.runId])).stops.get(running.runId)).toBe("cancelled");
      expect((await batchOf(batchId)).counts).toMatchObject({ cancelled: 5_049, running: 1 });
      expect(await hasWork(db)).toBe(false);
    });

    test("leaves a slice to the one who has it in hand", async () => {
      const { batchId } = await openBatchOf(db, [askJob("a")]);
      await db.query(
        "update nightdesk_data.batches set state = 'cancelled', finished_at = now(), closing = true",
      );
      if (name === "embedded") return; // One session: nobody else can have it in hand.
      await db.transaction(async (other) => {
        await other.query("select from nightdesk_data.batches for no key update");
        expect(await endSlice(db, batchId)).toBe("busy");
      });
      expect(await endSlice(db, batchId)).toMatchObject({ jobs: 1 });
    });
  });

  describe("that is retried", () => {
    test("queues again what failed, keeps successes, and is open again", async () => {
      const { batchId, jobIds } = await openBatchOf(db, [askJob("a"), askJob("b")]);
      const [good = "", bad = ""] = jobIds;
      await settle((await claimNext(db, good)).runId, settleOutcome(answered("yes")));
      const failed = await claimNext(db, bad);
      await settle(failed.runId, FAILED);
      await completeBatches(db, null);
      expect(await retryJobs(db, batchId, ["failed"])).toBe(1);
      expect(await batchOf(batchId)).toMatchObject({
        state: "running",
        finishedAt: null,
        counts: { succeeded: 1, queued: 1 },
      });
      const again = await claimNext(db, bad);
      expect(again.attempt).toBe(1);
      expect(again.dispatch).toBeGreaterThan(failed.dispatch);
      await settle(again.runId, settleOutcome(answered("at last")));
      await completeBatches(db, null);
      expect(await batchOf(batchId)).toMatchObject({
        state: "completed",
        counts: { succeeded: 2 },
      });
      expect(await retryJobs(db, batchId, ["failed"])).toBe(0);
      expect((await batchOf(batchId)).state).toBe("completed");
    });

    test("queues each job once, even if it fails again before the last is queued", async () => {
      const { batchId } = await openBatchOf(db, [askJob("a")]);
      const fail = () =>
        db.query(
          "update nightdesk_data.jobs set state = 'failed', error_code = 'MODEL_TIMEOUT', error_message = 'slow', finished_at = now() where batch_id = $1",
          [batchId],
        );
      await fail();
      const failing: Database = {
        ...db,
        within: () => failing,
        async transaction(body) {
          const result = await db.transaction(body);
          await fail();
          return result;
        },
      };
      expect(await retryJobs(failing, batchId, ["failed"])).toBe(1);
    });

    test("after its deadline has none any more, and does not expire again", async () => {
      const { batchId } = await openBatchOf(db, [askJob("a")]);
      await setDeadline(batchId, inSeconds(-1));
      await expireBatches(db);
      await endWaitingJobs(db, batchId);
      expect(await retryJobs(db, batchId, ["cancelled"])).toBe(0);
      expect(await retryJobs(db, batchId, ["expired"])).toBe(1);
      expect(await batchOf(batchId)).toMatchObject({ state: "queued", deadlineAt: null });
      expect(await expireBatches(db)).toEqual([]);
    });

    test.each(["before", "with"] as const)(
      "makes a parent wait for its children that were cancelled %s it",
      async (order) => {
        const { batchId, jobIds } = await openBatchOf(
          db,
          ["a", "b", "top"].map((id) => askJob(id)),
        );
        const [a = "", b = "", top = ""] = jobIds;
        await db.query(
          "insert into nightdesk_data.job_dependencies (parent_id, child_id) select $1, unnest($2::uuid[])",
          [top, [a, b]],
        );
        await db.query("update nightdesk_data.jobs set waits_for = 2 where job_id = $1", [top]);
        if (order === "before") {
          await settle((await claimNext(db, a)).runId, FAILED);
          await settle((await claimNext(db, b)).runId, FAILED);
          await settle((await claimNext(db, top)).runId, FAILED);
          await completeBatches(db, null);
        } else await cancelBatch(db, batchId);
        expect(await retryJobs(db, batchId, ["failed", "cancelled"])).toBe(3);
        expect(await rowOf(db, top)).toMatchObject({ state: "queued", waits_for: 2 });
        for (const child of [a, b]) {
          expect((await dispatchDueJobs(db, 1_000)).map(({ jobId }) => jobId)).not.toContain(top);
          await settle((await claimNext(db, child)).runId, settleOutcome(answered("yes")));
        }
        expect((await dispatchDueJobs(db, 1_000)).map(({ jobId }) => jobId)).toEqual([top]);
      },
    );

    test("while it loads is refused", async () => {
      const { batchId } = await findOrCreateBatch(db, "still loading", "file");
      await expect(retryJobs(db, batchId, ["failed"])).rejects.toThrow("still being loaded");
    });
  });
});
