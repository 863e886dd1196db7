import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { claimJob } from "../../src/shared/store/jobs/claim-job.ts";
import { dispatchDueJobs, selectDispatched } from "../../src/shared/store/jobs/dispatch.ts";
import { hasWork, selectWaitingJobs } from "../../src/shared/store/jobs/waiting.ts";
import {
  countAliveWorkers,
  heartbeat,
  selectAliveWorkers,
} from "../../src/shared/store/jobs/workers.ts";
import {
  chargeLostCalls,
  endCall,
  UNMADE_CALL,
  takeCall,
} from "../../src/shared/store/hosts/calls.ts";
import {
  clampFutureTimes,
  countHostFailure,
  enterHost,
  selectHosts,
} from "../../src/shared/store/hosts/hosts.ts";
import { startWorker } from "../../src/worker/start.ts";
import {
  answered,
  askJob,
  claimNext,
  countOf,
  expireLease,
  openBatchOf,
  rowOf,
  WORKER,
} from "./jobs.ts";
import { eventually } from "./signal.ts";
import { databases, startTopology } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

const HOST = "http://models:11434";

/** The clock of a database can't be moved here: what was written an hour ago by its old time lies an hour ahead instead. */
describe.each(databases)("a clock that is set back by an hour, on %s", (name) => {
  let topology: Topology;
  let db: Database;
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
  });
  afterEach(async () => {
    for (const table of ["batches", "hosts", "workers", "reservations"]) {
      await db.query(`delete from nightdesk_data.${table}`);
    }
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  const ahead = (table: string, column: string) =>
    db.query(
      `update nightdesk_data.${table} set ${column} = ${column} + interval '1 hour' where ${column} is not null`,
    );
  const secondsTo = async (table: string, column: string): Promise<number> => {
    const { rows } = await db.query(
      `select extract(epoch from ${column} - clock_timestamp())::float8 as s from nightdesk_data.${table} where ${column} is not null`,
    );
    return (rows as { s: number }[])[0]?.s ?? NaN;
  };

  test("keeps no job waiting: what was queued before is worked now", async () => {
    const { batchId, jobIds } = await openBatchOf(db, [askJob("a"), askJob("b")]);
    await ahead("jobs", "due_at");
    expect(await hasWork(db)).toBe(true);
    expect((await selectWaitingJobs(db, batchId))[0]).toMatchObject({ dueInSeconds: 0 });
    const worker = await startWorker(topology.context, 2, () => async () => answered("yes"));
    for (const jobId of jobIds) {
      await eventually("it is done", async () => (await rowOf(db, jobId))["state"] === "succeeded");
    }
    await worker.stop(0);
    expect(await countOf(db, "nightdesk_data.runs where queued_ms < 0")).toBe(0);
  });

  test("cuts no delay short that a rule explains, and none that is for ever", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a"), askJob("b")]);
    const [parked, loading] = jobIds;
    const wait = (jobId: string | undefined, until: string) =>
      db.query(`update nightdesk_data.jobs set due_at = ${until} where job_id = $1`, [jobId]);
    await wait(parked, "now() + interval '5 min'");
    await wait(loading, "'infinity'");
    expect(await hasWork(db)).toBe(false);
    expect(await dispatchDueJobs(db, 10)).toEqual([]);
    expect(await claimJob(db, { jobId: parked ?? "", dispatch: 0 }, WORKER)).toBeUndefined();
  });

  test("does not keep a job for a worker that died before", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    await claimNext(db, jobIds[0] ?? "");
    await ahead("jobs", "lease_until");
    expect(await clampFutureTimes(db)).toBe(1);
    expect(await secondsTo("jobs", "lease_until")).toBeLessThanOrEqual(15);
    expect(await clampFutureTimes(db)).toBe(0);
  });

  test("finds deliveries again that were lost before", async () => {
    await openBatchOf(db, [askJob("a")]);
    await dispatchDueJobs(db, 10);
    await ahead("jobs", "dispatched_at");
    expect(await selectDispatched(db, -60_000)).toEqual([]);
    expect(await clampFutureTimes(db)).toBe(1);
    expect(await selectDispatched(db, -60_000)).toHaveLength(1);
  });

  test("takes no worker for alive whose heart beat before", async () => {
    const facts = { host: "here", pid: 1, version: "test", concurrency: 1 };
    const hosts = { modelHosts: [], embedderHosts: [] };
    const configuration = {
      documentsFrom: "files" as const,
      configFile: "/nightdesk.yaml",
      sharedConfig: new Map(),
    };
    await heartbeat(db, { workerId: randomUUID(), ...facts, ...hosts, ...configuration });
    expect(await countAliveWorkers(db, null)).toBe(1);
    await ahead("workers", "heartbeat_at");
    expect(await countAliveWorkers(db, null)).toBe(0);
    expect(await selectAliveWorkers(db)).toEqual([]);
  });

  test("asks a host that is down as soon as it would have without that", async () => {
    const { batchId } = await openBatchOf(db, [askJob("a")]);
    await enterHost(db, { host: HOST, provider: "ollama", parallel: 1 });
    await db.query("update nightdesk_data.hosts set probes = 10");
    const trouble = { host: HOST, code: "MODEL_UNREACHABLE", message: "down", batchId };
    await countHostFailure(db, { ...trouble, most: 1, pauseMs: 5_000 });
    // However often it was asked before.
    expect(await secondsTo("hosts", "next_probe_at")).toBeLessThanOrEqual(120);
    await ahead("hosts", "next_probe_at");
    expect(await clampFutureTimes(db)).toBe(1);
    expect(await secondsTo("hosts", "next_probe_at")).toBeLessThanOrEqual(120);
  });

  test("lets a host that answers rest from growing for half an hour, and no longer", async () => {
    await enterHost(db, { host: HOST, provider: "ollama", parallel: 1 });
    await db.query(
      "update nightdesk_data.hosts set raise_after = clock_timestamp() + interval '30 minutes'",
    );
    expect(await clampFutureTimes(db)).toBe(0);
    await ahead("hosts", "raise_after");
    expect(await clampFutureTimes(db)).toBe(1);
    expect(await secondsTo("hosts", "raise_after")).toBeLessThanOrEqual(1_800);
  });

  test("gives back what a dead worker's call holds of a host and of a budget", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a"), askJob("b")]);
    await enterHost(db, { host: HOST, provider: "ollama", parallel: 1 });
    const [dead, next] = [
      await claimNext(db, jobIds[0] ?? ""),
      await claimNext(db, jobIds[1] ?? ""),
    ];
    const none = { tokens: null, calls: null, seconds: null };
    const night = { date: "2026-11-21", endsAt: new Date("2026-11-22T11:00:00Z") };
    const cost = { tokens: 100, night, perBatch: none, perNight: none };
    await takeCall(db, { ticket: randomUUID(), runId: dead.runId, host: HOST }, cost);
    await ahead("host_slots", "taken_at");
    await ahead("reservations", "made_at");
    await expireLease(db, dead.jobId);
    await clampFutureTimes(db);
    // A slot that was taken a moment ago is not looked for.
    const ticket = randomUUID();
    await eventually("its slot is free", async () => {
      const taken = await takeCall(db, { ticket, runId: next.runId, host: HOST }, null);
      return taken.outcome === "taken";
    });
    await eventually("its call is charged", async () => (await chargeLostCalls(db)) === 1);
    await endCall(db, ticket, UNMADE_CALL);
    expect((await selectHosts(db))[0]).toMatchObject({ capacity: 1 });
  });
});
