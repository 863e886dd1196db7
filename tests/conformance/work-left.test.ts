import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { changeBatch, pauseBatch } from "../../src/shared/store/jobs/batch-settings.ts";
import { expireBatches, selectClosing } from "../../src/shared/store/jobs/close-batches.ts";
import { takeBackLostJobs } from "../../src/shared/store/jobs/dispatch.ts";
import { evaluateHolds } from "../../src/shared/store/jobs/holds.ts";
import { hasWork } from "../../src/shared/store/jobs/waiting.ts";
import { settleRun } from "../../src/shared/store/jobs/settle-run.ts";
import { takeCall } from "../../src/shared/store/hosts/calls.ts";
import {
  claimProbe,
  countHostFailure,
  enterHost,
  postponeProbe,
  wakeHost,
} from "../../src/shared/store/hosts/hosts.ts";
import { askJob, claimNext, EMPTY_RECORD, expireLease, MADE_WITH, openBatchOf } from "./jobs.ts";
import { databases, startTopology } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

const HOST = "http://models:11434";
const PROBE = { firstMs: 60_000, mostMs: 60_000 };

describe.each(databases)("on %s", (name) => {
  let topology: Topology;
  let db: Database;
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
  });
  afterEach(async () => {
    await db.query("delete from nightdesk_data.batches");
    await db.query("delete from nightdesk_data.hosts");
    await db.query("delete from nightdesk_data.reservations");
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  async function heldForHost(): Promise<void> {
    const { batchId, jobIds } = await openBatchOf(db, [askJob("a"), askJob("b")]);
    const run = await claimNext(db, jobIds[0] ?? "");
    await enterHost(db, { host: HOST, provider: "ollama", parallel: 1 });
    const trouble = { host: HOST, code: "MODEL_UNREACHABLE", message: "down" };
    await countHostFailure(db, { ...trouble, batchId, most: 1, pauseMs: 60_000 });
    await settleRun(
      db,
      { runId: run.runId, runMs: 1, ...MADE_WITH },
      {
        kind: "parked",
        code: "MODEL_UNREACHABLE",
        message: "down",
        delayMs: 60_000,
        host: HOST,
      },
      EMPTY_RECORD,
    );
    await evaluateHolds(db);
  }

  test("a host that holds a batch is work when it is to be asked, while it is asked, and when it answers", async () => {
    await heldForHost();
    expect(await hasWork(db)).toBe(false);
    await db.query("update nightdesk_data.hosts set next_probe_at = clock_timestamp()");
    expect(await hasWork(db)).toBe(true);
    const prober = randomUUID();
    await claimProbe(db, prober, [HOST]);
    expect(await hasWork(db)).toBe(true);
    await postponeProbe(db, { prober, host: HOST }, PROBE);
    expect(await hasWork(db)).toBe(false);
    await wakeHost(db, HOST);
    expect(await hasWork(db)).toBe(true);
  });

  test("a host that nothing waits for is none", async () => {
    await heldForHost();
    await db.query("update nightdesk_data.hosts set next_probe_at = clock_timestamp()");
    await db.query("update nightdesk_data.batches set paused_at = now()");
    await evaluateHolds(db);
    expect(await hasWork(db)).toBe(false);
  });

  test("a deadline that has passed is work, also of a batch that is held", async () => {
    const { batchId } = await openBatchOf(db, [askJob("a")]);
    await pauseBatch(db, batchId);
    await evaluateHolds(db);
    await changeBatch(db, batchId, { deadlineAt: new Date(Date.now() - 1_000) });
    expect(await hasWork(db)).toBe(true);
    await expireBatches(db);
    expect(await selectClosing(db)).toEqual([batchId]);
  });

  test("a job that a worker died with is work, also of a batch that is held", async () => {
    const { batchId, jobIds } = await openBatchOf(db, [askJob("a")]);
    await claimNext(db, jobIds[0] ?? "");
    await pauseBatch(db, batchId);
    await evaluateHolds(db);
    await expireLease(db, jobIds[0] ?? "");
    expect(await hasWork(db)).toBe(true);
    await takeBackLostJobs(db);
    expect(await hasWork(db)).toBe(false);
  });

  test("what a worker died with of a budget is work while that holds the batch", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a"), askJob("b")]);
    await enterHost(db, { host: HOST, provider: "ollama", parallel: 2 });
    const unlimited = { tokens: null, calls: null, seconds: null };
    const cost = {
      tokens: 100,
      night: { date: "2026-11-21", endsAt: new Date("2026-11-22T11:00:00Z") },
      perBatch: { ...unlimited, tokens: 150 },
      perNight: unlimited,
    };
    for (const jobId of jobIds) {
      const { runId } = await claimNext(db, jobId);
      await takeCall(db, { ticket: randomUUID(), runId, host: HOST }, cost);
      if (jobId === jobIds[0]) continue;
      await settleRun(db, { runId, runMs: 1, ...MADE_WITH }, { kind: "handed_back" }, EMPTY_RECORD);
    }
    await evaluateHolds(db);
    expect(await hasWork(db)).toBe(false);
    await expireLease(db, jobIds[0] ?? "");
    await takeBackLostJobs(db);
    expect(await hasWork(db)).toBe(true);
  });
});
