import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import {
  changeBatch,
  pauseBatch,
  resumeBatch,
} from "../../src/shared/store/jobs/batch-settings.ts";
import { completeBatches, deleteBatch } from "../../src/shared/store/jobs/batches.ts";
import { cancelBatch, expireBatches } from "../../src/shared/store/jobs/close-batches.ts";
import {
  evaluateHolds,
  selectHolds,
  setDefaultWindows,
} from "../../src/shared/store/jobs/holds.ts";
import type { PastHold } from "../../src/shared/store/jobs/holds.ts";
import { pinBatch } from "../../src/shared/store/jobs/retention.ts";
import { settleRun } from "../../src/shared/store/jobs/settle-run.ts";
import { setBatchBudget } from "../../src/shared/store/hosts/budgets.ts";
import { takeCall } from "../../src/shared/store/hosts/calls.ts";
import type { CallCost } from "../../src/shared/store/hosts/calls.ts";
import { countHostFailure, enterHost, wakeHost } from "../../src/shared/store/hosts/hosts.ts";
import { settleOutcome } from "../../src/shared/job/settlement.ts";
import {
  answered,
  askJob,
  claimNext,
  EMPTY_RECORD,
  MADE_WITH,
  openBatchOf,
  rowOf,
} from "./jobs.ts";
import { databases, startTopology } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

const HOST = "http://models:11434";
const OTHER_HOST = "http://vectors:8080";
const WINDOW = "22:00-06:00 Europe/Berlin";
const NO_LIMITS = { tokens: null, calls: null, seconds: null };
const COST: CallCost = {
  tokens: 100,
  night: { date: "2026-11-21", endsAt: new Date("2099-11-22T11:00:00Z") },
  perBatch: NO_LIMITS,
  perNight: NO_LIMITS,
};
const [NOON, MIDNIGHT] = [new Date("2026-11-21T12:00:00Z"), new Date("2026-11-22T00:00:00Z")];

describe.each(databases)("holds on %s", (name) => {
  let topology: Topology;
  let db: Database;
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
  });
  beforeEach(async () => {
    await db.query("delete from nightdesk_data.batches");
    await db.query("delete from nightdesk_data.hosts");
    await db.query("delete from nightdesk_data.nights");
    await setDefaultWindows(db, []);
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  const open = async (jobs = 1) =>
    openBatchOf(
      db,
      Array.from({ length: jobs }, (_, index) => askJob(`${index}`)),
    );
  /** `host http://models:11434 x2, lasts`: what is told of each span, and that none begins before the last one ended. */
  const told = async (batchId: string) => {
    const holds = await selectHolds(db, batchId);
    expect(holds.filter(({ ended_at: ended }) => ended === null).length).toBeLessThan(2);
    return holds.map(
      ({ reason, detail, times, ended_at: ended }) =>
        `${reason}${detail === null ? "" : ` ${detail}`}${times === 1 ? "" : ` x${times}`}${ended === null ? ", lasts" : ""}`,
    );
  };
  const only = (holds: readonly PastHold[]): PastHold => {
    const [hold, ...others] = holds;
    if (hold === undefined || others.length > 0) throw new Error(`${holds.length} holds`);
    return hold;
  };
  const pause = async (batchId: string) => {
    await pauseBatch(db, batchId);
    await evaluateHolds(db);
  };
  const resume = async (batchId: string) => {
    await resumeBatch(db, batchId);
    await evaluateHolds(db);
  };
  /** The breaker of a host opens over a run of the batch, as a worker does it: before the job is parked. */
  const breakDown = async (batchId: string, host = HOST) => {
    await enterHost(db, { host, provider: "ollama", parallel: 1 });
    const trouble = { host, code: "MODEL_UNREACHABLE", message: "down", batchId } as const;
    await countHostFailure(db, { ...trouble, most: 1, pauseMs: 5_000 });
  };
  const park = async (jobId: string, host = HOST) => {
    const { runId } = await runOf(jobId);
    const parked = { kind: "parked", code: "MODEL_UNREACHABLE", message: "down" } as const;
    const settlement = { ...parked, delayMs: 60_000, host };
    await settleRun(db, { runId, runMs: 1, ...MADE_WITH }, settlement, EMPTY_RECORD);
  };
  const runOf = async (jobId: string) => ({ runId: String((await rowOf(db, jobId))["run_id"]) });
  const refuseCall = async (jobId: string, cost: Partial<CallCost> = {}) => {
    await enterHost(db, { host: HOST, provider: "ollama", parallel: 1 });
    const call = { ...(await runOf(jobId)), ticket: randomUUID(), host: HOST };
    expect((await takeCall(db, call, { ...COST, ...cost })).outcome).toBe("budget");
  };
  /** As if all of it had happened so much earlier. */
  const longAgo = (interval: string) =>
    db.query(
      `update nightdesk_data.hold_history set began_at = began_at - $1::interval, since = since - $1::interval,
              ended_at = ended_at - $1::interval`,
      [interval],
    );

  test("are kept from their beginning to their end, however often somebody pauses", async () => {
    const { batchId } = await open();
    await pause(batchId);
    await pause(batchId);
    await evaluateHolds(db);
    expect(await told(batchId)).toEqual(["paused, lasts"]);
    await longAgo("90 minutes");
    await resume(batchId);
    await resume(batchId);
    const hold = only(await selectHolds(db, batchId));
    const lasted = (hold.ended_at?.getTime() ?? 0) - hold.began_at.getTime();
    expect(Math.abs(hold.held_ms - lasted)).toBeLessThanOrEqual(1);
    expect(Math.round(lasted / 60_000)).toBe(90);
  });

  test("follow one another without a gap when the reason changes", async () => {
    const { batchId, jobIds } = await open();
    await claimNext(db, jobIds[0] ?? "");
    await breakDown(batchId);
    await park(jobIds[0] ?? "");
    await pause(batchId);
    expect(await told(batchId)).toEqual([`host ${HOST}`, "paused, lasts"]);
    const [host, paused] = await selectHolds(db, batchId);
    expect(host?.ended_at).toEqual(paused?.began_at);
    await resume(batchId);
    expect(await told(batchId)).toEqual([`host ${HOST} x2, lasts`, "paused"]);
    await wakeHost(db, HOST);
    const holds = await selectHolds(db, batchId);
    const [began, ended] = [holds[0]?.began_at, holds[0]?.ended_at];
    const sum = holds.reduce((total, { held_ms: held }) => total + held, 0);
    expect(Math.abs(sum - (Number(ended) - Number(began)))).toBeLessThanOrEqual(2);
  });

  test("by a host turn into those by a budget without one either", async () => {
    const { batchId, jobIds } = await open(2);
    for (const jobId of jobIds) await claimNext(db, jobId);
    await breakDown(batchId);
    expect(await told(batchId)).toEqual([`host ${HOST}, lasts`]);
    await setBatchBudget(db, batchId, { calls: 1 });
    // The call of the other run was waiting for a slot of a host that is up.
    await db.query("update nightdesk_data.batch_budgets set calls_used = 1");
    await enterHost(db, { host: OTHER_HOST, provider: "ollama", parallel: 1 });
    const call = { ...(await runOf(jobIds[1] ?? "")), ticket: randomUUID(), host: OTHER_HOST };
    expect((await takeCall(db, call, COST)).outcome).toBe("budget");
    expect(await told(batchId)).toEqual([`host ${HOST}`, "budget calls of the batch, lasts"]);
    const [host, budget] = await selectHolds(db, batchId);
    expect(host?.ended_at).toEqual(budget?.began_at);
  });

  test("say whose budget is used up, and of what", async () => {
    const cases: readonly (readonly [Partial<CallCost>, string])[] = [
      [{ perBatch: { ...NO_LIMITS, tokens: 50 } }, "budget tokens of the batch, lasts"],
      [{ perNight: { ...NO_LIMITS, tokens: 50 } }, "budget tokens of the night, lasts"],
    ];
    for (const [cost, expected] of cases) {
      const { batchId, jobIds } = await open();
      await claimNext(db, jobIds[0] ?? "");
      await refuseCall(jobIds[0] ?? "", cost);
      await evaluateHolds(db, new Date("2026-11-21T23:00:00Z"));
      expect(await told(batchId)).toEqual([expected]);
    }
  });

  test("say which host is down, and which one still is when another comes back", async () => {
    const { batchId, jobIds } = await open(2);
    for (const jobId of jobIds) await claimNext(db, jobId);
    await breakDown(batchId);
    await park(jobIds[0] ?? "");
    await breakDown(batchId, OTHER_HOST);
    await park(jobIds[1] ?? "", OTHER_HOST);
    await evaluateHolds(db);
    expect(await told(batchId)).toEqual([`host ${HOST}`, `host ${HOST}, ${OTHER_HOST}, lasts`]);
    await wakeHost(db, HOST);
    await db.query(
      "update nightdesk_data.hosts set next_probe_at = now() + interval '1 h' where state = 'open'",
    );
    await evaluateHolds(db);
    expect((await told(batchId)).at(-1)).toBe(`host ${OTHER_HOST}, lasts`);
  });

  test("by a window name it, the batch's own or the desk's", async () => {
    const { batchId } = await open();
    await setDefaultWindows(db, [WINDOW]);
    await evaluateHolds(db, NOON);
    expect(await told(batchId)).toEqual([`window ${WINDOW}, lasts`]);
    await changeBatch(db, batchId, { windows: ["23:00-05:00 UTC", "06:00-07:00 UTC"] });
    await evaluateHolds(db, NOON);
    expect(await told(batchId)).toEqual([
      `window ${WINDOW}`,
      "window 23:00-05:00 UTC, 06:00-07:00 UTC, lasts",
    ]);
    await evaluateHolds(db, MIDNIGHT);
    expect((await told(batchId)).some((line) => line.endsWith("lasts"))).toBe(false);
  });

  test("end with a batch that is cancelled, expires or is completed", async () => {
    const [cancelled, expired, completed] = [await open(), await open(), await open()];
    const job = await claimNext(db, completed.jobIds[0] ?? "");
    for (const { batchId } of [cancelled, expired, completed]) await pause(batchId);
    await cancelBatch(db, cancelled.batchId);
    await changeBatch(db, expired.batchId, { deadlineAt: new Date(0) });
    await expireBatches(db);
    await settleRun(
      db,
      { runId: job.runId, runMs: 1, ...MADE_WITH },
      settleOutcome(answered("yes")),
      EMPTY_RECORD,
    );
    await completeBatches(db, null);
    for (const { batchId } of [cancelled, expired, completed]) {
      expect(await told(batchId)).toEqual(["paused"]);
      await pause(batchId);
      expect(await told(batchId)).toEqual(["paused"]);
    }
  });

  test("go on while no worker is there, and are let go by the next one", async () => {
    const { batchId } = await open();
    await setDefaultWindows(db, [WINDOW]);
    await evaluateHolds(db, NOON);
    if (name === "postgres") await topology.breakConnections();
    const next = await topology.connect();
    await evaluateHolds(next, NOON);
    expect(await told(batchId)).toEqual([`window ${WINDOW}, lasts`]);
    await evaluateHolds(next, MIDNIGHT);
    expect(await told(batchId)).toEqual([`window ${WINDOW}`]);
    await next.end();
  });

  test("that come again within a minute are one, whose time leaves out what lay between", async () => {
    const { batchId } = await open();
    for (let round = 0; round < 8; round += 1) {
      await pause(batchId);
      await resume(batchId);
      await longAgo("10 seconds");
    }
    expect(await told(batchId)).toEqual(["paused x8"]);
    const hold = only(await selectHolds(db, batchId));
    const span = (hold.ended_at?.getTime() ?? 0) - hold.began_at.getTime();
    expect(span).toBeGreaterThan(70_000);
    expect(hold.held_ms).toBeLessThan(span - 60_000);
    await longAgo("1 minute");
    await pause(batchId);
    expect(await told(batchId)).toEqual(["paused x8", "paused, lasts"]);
  });

  test("of one batch are never more than some 500, whatever flaps", async () => {
    const { batchId } = await open();
    await db.query(
      `insert into nightdesk_data.hold_history (batch_id, reason, detail, began_at, since, ended_at)
       select $1, 'window', 'w' || n, at, at, at from generate_series(1, 499) n,
              lateral (select clock_timestamp() - make_interval(hours => 600 - n)) as span (at)`,
      [batchId],
    );
    for (let round = 0; round < 3; round += 1) {
      await pause(batchId);
      await longAgo("1 hour");
      await resume(batchId);
      await longAgo("1 hour");
    }
    await setDefaultWindows(db, [WINDOW]);
    await evaluateHolds(db, NOON);
    const holds = await selectHolds(db, batchId);
    expect(holds).toHaveLength(500);
    expect(holds.filter(({ times }) => times > 1)).toMatchObject([
      { reason: "window", detail: WINDOW, times: 2, ended_at: null },
      { reason: "paused", times: 3 },
    ]);
    expect(Math.round((holds.at(-1)?.held_ms ?? 0) / 3_600_000)).toBe(3);
  });

  test("survive a clock that is set back", async () => {
    const { batchId } = await open();
    await pause(batchId);
    await longAgo("-1 hour");
    await resume(batchId);
    expect(only(await selectHolds(db, batchId)).held_ms).toBe(0);
    await pause(batchId);
    await resume(batchId);
    expect(await told(batchId)).toEqual(["paused x2"]);
  });

  test("go with their batch, and no other batch's go with it", async () => {
    const [gone, stays] = [await open(), await open()];
    for (const { batchId } of [gone, stays]) await pause(batchId);
    await deleteBatch(db, gone.batchId);
    const { rows } = await db.query("select batch_id from nightdesk.batch_holds");
    expect(rows).toEqual([{ batch_id: stays.batchId }]);
  });

  test("are not undone by a change that was rolled back", async () => {
    const { batchId } = await open();
    await pause(batchId);
    const back = db.transaction(async (inner) => {
      await resumeBatch(inner, batchId);
      await evaluateHolds(inner);
      throw new Error("back");
    });
    await expect(back).rejects.toThrow("back");
    expect(await told(batchId)).toEqual(["paused, lasts"]);
  });

  test("stand beside what keeps a batch from retention, in the view of batches", async () => {
    const { batchId } = await open();
    const pinned = async () =>
      (await db.query("select pinned from nightdesk.batch_progress where batch_id = $1", [batchId]))
        .rows[0];
    expect(await pinned()).toEqual({ pinned: null });
    await pinBatch(db, batchId, "until_exported");
    expect(await pinned()).toEqual({ pinned: "until_exported" });
  });
});
