import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import {
  completeBatches,
  deleteBatch,
  findOrCreateBatch,
  openBatch,
} from "../../src/shared/store/jobs/batches.ts";
import {
  claimJob,
  lockJob,
  renewLeases,
  reportProgress,
} from "../../src/shared/store/jobs/claim-job.ts";
import { cancelBatch } from "../../src/shared/store/jobs/close-batches.ts";
import { dispatchDueJobs, takeBackLostJobs } from "../../src/shared/store/jobs/dispatch.ts";
import { insertJobs, selectInputHashes } from "../../src/shared/store/jobs/insert-jobs.ts";
import { settleRun } from "../../src/shared/store/jobs/settle-run.ts";
import { countAliveWorkers, heartbeat, removeWorker } from "../../src/shared/store/jobs/workers.ts";
import { Failure, HostFailure } from "../../src/shared/failure.ts";
import { settleError, settleOutcome } from "../../src/shared/job/settlement.ts";
import {
  answered,
  askJob,
  claimNext,
  countOf,
  dispatchOf,
  EMPTY_RECORD,
  expireLease,
  FULL_RECORD,
  MADE_WITH,
  openBatchOf,
  rowOf,
  WORKER,
} from "./jobs.ts";
import { databases, startTopology } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

describe.each(databases)("the store on %s", (name) => {
  let topology: Topology;
  let db: Database;
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
  });
  // A lease that ends, or a job that comes due, is of its own test.
  afterEach(() => db.query("delete from nightdesk_data.batches"));
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  const settle = (
    runId: string,
    settlement: Parameters<typeof settleRun>[2],
    record = EMPTY_RECORD,
  ) => settleRun(db, { runId, runMs: 5, ...MADE_WITH }, settlement, record);
  const succeed = (runId: string) => settle(runId, settleOutcome(answered("yes")));
  const addUp = async (batchId: string) => {
    const { rows } = await db.query("select * from nightdesk.batch_progress where batch_id = $1", [
      batchId,
    ]);
    return rows[0] as Record<string, unknown>;
  };

  test("a batch that loads is not dispatched", async () => {
    const { batchId } = await findOrCreateBatch(db, randomUUID(), "file");
    const ids = await insertJobs(db, batchId, [askJob("a")]);
    await dispatchDueJobs(db, 1_000);
    expect((await rowOf(db, ids.get("a") ?? ""))["dispatched_at"]).toBeNull();
  });

  test("a batch is found again by its name", async () => {
    const batchName = randomUUID();
    const first = await findOrCreateBatch(db, batchName, "file");
    const second = await findOrCreateBatch(db, batchName, "file");
    expect([first.created, second.created]).toEqual([true, false]);
    expect(second.batchId).toBe(first.batchId);
  });

  test("a custom_id is inserted once, and its hash tells what it was", async () => {
    const { batchId } = await findOrCreateBatch(db, randomUUID(), "file");
    expect((await insertJobs(db, batchId, [askJob("a"), askJob("b")])).size).toBe(2);
    expect((await insertJobs(db, batchId, [askJob("a"), askJob("c")])).size).toBe(1);
    const hashes = await selectInputHashes(db, batchId, ["a", "c", "missing"]);
    expect([...hashes.keys()].sort()).toEqual(["a", "c"]);
  });

  test("jobs keep the order in which they were queued", async () => {
    const { batchId } = await findOrCreateBatch(db, randomUUID(), "file");
    const customIds = Array.from({ length: 50 }, (_, i) => `job ${i}`);
    await insertJobs(
      db,
      batchId,
      customIds.map((id) => askJob(id)),
    );
    const { rows } = await db.query(
      "select custom_id from nightdesk_data.jobs where batch_id = $1 order by seq",
      [batchId],
    );
    expect((rows as { custom_id: string }[]).map((row) => row.custom_id)).toEqual(customIds);
  });

  test("an empty batch is completed as soon as it is opened", async () => {
    const { batchId } = await findOrCreateBatch(db, randomUUID(), "file");
    await openBatch(db, batchId);
    expect((await addUp(batchId))["state"]).toBe("completed");
  });

  test("of many deliveries of one job, one claims it", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const jobId = jobIds[0] ?? "";
    await dispatchDueJobs(db, 1_000);
    const delivery = { jobId, dispatch: await dispatchOf(db, jobId) };
    const claims = await Promise.all(
      Array.from({ length: 8 }, () => claimJob(db, delivery, randomUUID())),
    );
    expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
    expect(await countOf(db, "nightdesk_data.runs where job_id = $1", [jobId])).toBe(1);
  });

  test("a delivery of an earlier dispatch is without effect", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const jobId = jobIds[0] ?? "";
    await dispatchDueJobs(db, 1_000);
    const dispatch = await dispatchOf(db, jobId);
    expect(await claimJob(db, { jobId, dispatch: dispatch - 1 }, WORKER)).toBeUndefined();
    expect((await rowOf(db, jobId))["state"]).toBe("queued");
  });

  test("a delivery of a held batch is without effect", async () => {
    const { batchId, jobIds } = await openBatchOf(db, [askJob("a")]);
    const jobId = jobIds[0] ?? "";
    await dispatchDueJobs(db, 1_000);
    await db.query("update nightdesk_data.batches set hold_reason = 'paused' where batch_id = $1", [
      batchId,
    ]);
    expect(
      await claimJob(db, { jobId, dispatch: await dispatchOf(db, jobId) }, WORKER),
    ).toBeUndefined();
    expect((await addUp(batchId))["state"]).toBe("held");
  });

  test("a held batch is not dispatched, and goes on when it is released", async () => {
    const { batchId, jobIds } = await openBatchOf(db, [askJob("a")]);
    await db.query("update nightdesk_data.batches set hold_reason = 'window' where batch_id = $1", [
      batchId,
    ]);
    await dispatchDueJobs(db, 1_000);
    expect((await rowOf(db, jobIds[0] ?? ""))["dispatched_at"]).toBeNull();
    await db.query("update nightdesk_data.batches set hold_reason = null where batch_id = $1", [
      batchId,
    ]);
    await claimNext(db, jobIds[0] ?? "");
  });

  test("a job that is not due is not dispatched", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const jobId = jobIds[0] ?? "";
    await db.query(
      "update nightdesk_data.jobs set due_at = now() + interval '5 min' where job_id = $1",
      [jobId],
    );
    await dispatchDueJobs(db, 1_000);
    expect((await rowOf(db, jobId))["dispatched_at"]).toBeNull();
  });

  test("a result is written with all that belongs to it", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const job = await claimNext(db, jobIds[0] ?? "");
    await settle(job.runId, settleOutcome(answered("yes")), FULL_RECORD);
    const { rows } = await db.query("select * from nightdesk.results where job_id = $1", [
      job.jobId,
    ]);
    expect(rows[0]).toMatchObject({
      state: "succeeded",
      answer: "yes",
      scope: "Scope: test",
      model: "m",
      prompt_tokens: 7,
      completion_tokens: 3,
      evidence_count: "1",
    });
    for (const table of ["tool_calls", "run_events", "evidence"]) {
      expect(await countOf(db, `nightdesk_data.${table} where run_id = $1`, [job.runId])).toBe(1);
    }
  });

  test("a refusal is a stored result", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const job = await claimNext(db, jobIds[0] ?? "");
    await settle(job.runId, { kind: "refused", code: "FILE_EMPTY", message: "a.md is empty." });
    expect(await rowOf(db, job.jobId)).toMatchObject({
      state: "refused",
      error_code: "FILE_EMPTY",
    });
    expect(await countOf(db, "nightdesk.failures where job_id = $1", [job.jobId])).toBe(1);
  });

  test("a second result of one run changes nothing", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const job = await claimNext(db, jobIds[0] ?? "");
    expect(await succeed(job.runId)).toBeDefined();
    expect(
      await settle(job.runId, { kind: "failed", code: "INTERNAL_ERROR", message: "late" }),
    ).toBeUndefined();
    expect((await rowOf(db, job.jobId))["state"]).toBe("succeeded");
  });

  test("a lost lease makes the job due again", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const job = await claimNext(db, jobIds[0] ?? "");
    await expireLease(db, job.jobId);
    expect(await takeBackLostJobs(db)).toBe(1);
    expect(await rowOf(db, job.jobId)).toMatchObject({
      state: "queued",
      losses: 1,
      error_code: "WORKER_LOST",
    });
  });

  test("the second loss in a row fails the job", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    for (const expected of ["queued", "failed"]) {
      const job = await claimNext(db, jobIds[0] ?? "");
      await expireLease(db, job.jobId);
      await takeBackLostJobs(db);
      expect((await rowOf(db, job.jobId))["state"]).toBe(expected);
    }
  });

  test("a result that is written after the lease was lost changes nothing", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const late = await claimNext(db, jobIds[0] ?? "");
    await expireLease(db, late.jobId);
    await takeBackLostJobs(db);
    const current = await claimNext(db, late.jobId);
    expect(await settle(late.runId, settleOutcome(answered("late")), FULL_RECORD)).toBeUndefined();
    expect(await countOf(db, "nightdesk_data.evidence where run_id = $1", [late.runId])).toBe(0);
    await settle(current.runId, settleOutcome(answered("current")));
    const { rows } = await db.query("select answer from nightdesk.results where job_id = $1", [
      late.jobId,
    ]);
    expect(rows).toEqual([{ answer: "current" }]);
  });

  test("a live lease is not taken back, and is renewed", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const job = await claimNext(db, jobIds[0] ?? "");
    await takeBackLostJobs(db);
    const { stops, busy } = await renewLeases(db, [job.runId, randomUUID()]);
    expect({ stops: [...stops], busy }).toEqual({ stops: [[job.runId, null]], busy: 0 });
  });

  // The embedded database has one session, which a transaction has for itself.
  const onServers = name === "embedded" ? test.skip : test;
  onServers("a lease is renewed while a transaction holds the job of another run", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a"), askJob("b")]);
    const [held, free] = [
      await claimNext(db, jobIds[0] ?? ""),
      await claimNext(db, jobIds[1] ?? ""),
    ];
    const other = await topology.connect();
    await db.query("update nightdesk_data.jobs set lease_until = now() where job_id = any($1)", [
      jobIds,
    ]);
    const renewed = await other.transaction(async (inside) => {
      await lockJob(inside, held.runId);
      return renewLeases(db, [held.runId, free.runId]);
    });
    expect({ stops: Object.fromEntries(renewed.stops), busy: renewed.busy }).toEqual({
      stops: { [held.runId]: null, [free.runId]: null },
      busy: 1,
    });
    const until = "nightdesk_data.jobs where lease_until > now() + interval '10 s' and job_id = $1";
    expect([
      await countOf(db, until, [free.jobId]),
      await countOf(db, until, [held.jobId]),
    ]).toEqual([1, 0]);
    await other.end();
  });

  test("a retry uses up an attempt and is due later", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const job = await claimNext(db, jobIds[0] ?? "");
    const settlement = settleError(new Failure("MODEL_TIMEOUT", "slow"), job);
    if (settlement === undefined) throw new Error("no settlement");
    await settle(job.runId, settlement);
    const row = await rowOf(db, job.jobId);
    expect(row).toMatchObject({ state: "queued", attempt: 1, error_code: "MODEL_TIMEOUT" });
    expect((row["due_at"] as Date).getTime()).toBeGreaterThan(Date.now() + 2_000);
  });

  test("the last attempt fails the job", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    await db.query("update nightdesk_data.jobs set attempt = 2 where job_id = $1", [jobIds[0]]);
    const job = await claimNext(db, jobIds[0] ?? "");
    const settlement = settleError(new Failure("MODEL_TIMEOUT", "slow"), job);
    if (settlement === undefined) throw new Error("no settlement");
    await settle(job.runId, settlement);
    expect(await rowOf(db, job.jobId)).toMatchObject({ state: "failed", attempt: 3 });
  });

  test("a parked job uses up no attempt, waits, and wakes", async () => {
    const { batchId, jobIds } = await openBatchOf(db, [askJob("a")]);
    const job = await claimNext(db, jobIds[0] ?? "");
    const settlement = settleError(new Failure("MODEL_UNREACHABLE", "down"), job);
    if (settlement === undefined) throw new Error("no settlement");
    await settle(job.runId, settlement);
    const parked = { state: "parked", attempt: 0, parks: 1, waiting_for: "time" };
    expect(await rowOf(db, job.jobId)).toMatchObject(parked);
    expect((await addUp(batchId))["parked"]).toBe("1");
    expect(await completeBatches(db, batchId)).toEqual([]);
    await db.query("update nightdesk_data.jobs set due_at = now() where job_id = $1", [job.jobId]);
    expect((await claimNext(db, job.jobId)).attempt).toBe(1);
    expect((await rowOf(db, job.jobId))["waiting_for"]).toBeNull();
  });

  test("only a parked job waits for something, and what waits for a person is never due", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const park = (columns: string) =>
      db.query(
        `update nightdesk_data.jobs
            set state = 'parked', error_code = 'X', error_message = 'x', ${columns} where job_id = $1`,
        [jobIds[0]],
      );
    await expect(park("due_at = due_at")).rejects.toThrow(/parked_jobs_wait_for_something/);
    await expect(park("waiting_for = 'approval'")).rejects.toThrow(/others_is_never_due/);
    await expect(park("waiting_for = 'time', parked_host = 'http://a'")).rejects.toThrow(
      /wait_for_a_host_name_it/,
    );
    await park("waiting_for = 'approval', due_at = 'infinity'");
    expect(await dispatchDueJobs(db, 10)).toEqual([]);
    const { rows } = await db.query(
      "select waiting_for from nightdesk.results where state = 'parked'",
    );
    expect(rows).toEqual([{ waiting_for: "approval" }]);
    await db.query("delete from nightdesk_data.jobs where job_id = $1", [jobIds[0]]);
  });

  test("a job whose host breaks off again and again fails, whatever happens to the host otherwise", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const jobId = jobIds[0] ?? "";
    const host = "http://127.0.0.1:11434";
    const down = new HostFailure("MODEL_UNREACHABLE", "refused", { host });
    const broken = new HostFailure("MODEL_UNREACHABLE", "cut", { host, brokeOff: true });
    for (const error of [broken, down, broken, broken, down, broken]) {
      const job = await claimNext(db, jobId);
      const settlement = settleError(error, job);
      expect(settlement).toMatchObject({ kind: "parked", host });
      if (settlement !== undefined) await settle(job.runId, settlement);
      expect((await rowOf(db, jobId))["waiting_for"]).toBe("host");
      await db.query("update nightdesk_data.jobs set due_at = now() where job_id = $1", [jobId]);
    }
    const last = await claimNext(db, jobId);
    expect(last).toMatchObject({ attempt: 1, brokenCalls: 4 });
    const settlement = settleError(broken, last);
    if (settlement === undefined) throw new Error("no settlement");
    await settle(last.runId, settlement);
    expect(await rowOf(db, jobId)).toMatchObject({
      state: "failed",
      error_code: "MODEL_OUTPUT_INVALID",
    });
  });

  test("a job handed back is due at once", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const job = await claimNext(db, jobIds[0] ?? "");
    await settle(job.runId, { kind: "handed_back" });
    expect((await claimNext(db, job.jobId)).attempt).toBe(1);
  });

  test("cancelling ends what waits, asks what runs, and keeps what is finished", async () => {
    const { batchId, jobIds } = await openBatchOf(db, [askJob("a"), askJob("b"), askJob("c")]);
    const [done, running] = [
      await claimNext(db, jobIds[0] ?? ""),
      await claimNext(db, jobIds[1] ?? ""),
    ];
    await succeed(done.runId);
    await cancelBatch(db, batchId);
    expect(await addUp(batchId)).toMatchObject({
      state: "cancelled",
      succeeded: "1",
      running: "1",
      cancelled: "1",
      total: "3",
    });
    expect((await renewLeases(db, [running.runId])).stops.get(running.runId)).toBe("cancelled");
    await settle(running.runId, {
      kind: "cancelled",
      code: "CANCELLED",
      message: "Cancelled while it ran.",
    });
    expect(await addUp(batchId)).toMatchObject({ succeeded: "1", running: "0", cancelled: "2" });
  });

  test("cancelling ends a job that is parked", async () => {
    const { batchId, jobIds } = await openBatchOf(db, [askJob("a")]);
    const job = await claimNext(db, jobIds[0] ?? "");
    const down = {
      code: "MODEL_UNREACHABLE",
      message: "down",
      delayMs: 60_000,
      host: null,
    } as const;
    await settle(job.runId, { kind: "parked", ...down });
    await cancelBatch(db, batchId);
    expect(await rowOf(db, job.jobId)).toMatchObject({ state: "cancelled", waiting_for: null });
  });

  test("a worker that dies with a cancelled job leaves it cancelled", async () => {
    const { batchId, jobIds } = await openBatchOf(db, [askJob("a")]);
    const job = await claimNext(db, jobIds[0] ?? "");
    await cancelBatch(db, batchId);
    await expireLease(db, job.jobId);
    await takeBackLostJobs(db);
    expect((await rowOf(db, job.jobId))["state"]).toBe("cancelled");
  });

  test("a batch is completed after its last job, and once", async () => {
    const { batchId, jobIds } = await openBatchOf(db, [askJob("a"), askJob("b")]);
    await succeed((await claimNext(db, jobIds[0] ?? "")).runId);
    expect(await completeBatches(db, batchId)).toEqual([]);
    await succeed((await claimNext(db, jobIds[1] ?? "")).runId);
    expect(await completeBatches(db, batchId)).toEqual([{ batchId, origin: "file" }]);
    expect(await completeBatches(db, batchId)).toEqual([]);
  });

  test("counts by state add up through every change, and follow the rows", async () => {
    const jobs = Array.from({ length: 6 }, (_, i) => askJob(`${i}`));
    const { batchId, jobIds } = await openBatchOf(db, jobs);
    const claimed = await Promise.all(
      jobIds.slice(0, 5).map((jobId) => claimNext(db, jobId).catch(() => undefined)),
    );
    await Promise.all(claimed.flatMap((job) => (job === undefined ? [] : [succeed(job.runId)])));
    const progress = await addUp(batchId);
    const states = [
      "queued",
      "running",
      "parked",
      "succeeded",
      "refused",
      "failed",
      "cancelled",
      "expired",
    ];
    for (const state of states) {
      const counted = await countOf(db, "nightdesk_data.jobs where batch_id = $1 and state = $2", [
        batchId,
        state,
      ]);
      expect([state, Number(progress[state])]).toEqual([state, counted]);
    }
    expect(states.reduce((sum, state) => sum + Number(progress[state]), 0)).toBe(
      Number(progress["total"]),
    );
  });

  test("a deleted batch takes everything along", async () => {
    const { batchId, jobIds } = await openBatchOf(db, [askJob("a")]);
    const job = await claimNext(db, jobIds[0] ?? "");
    await settle(job.runId, settleOutcome(answered("yes")), FULL_RECORD);
    await deleteBatch(db, batchId);
    expect(await countOf(db, "nightdesk_data.evidence where run_id = $1", [job.runId])).toBe(0);
    expect(await countOf(db, "nightdesk_data.batch_counts where batch_id = $1", [batchId])).toBe(0);
  });

  test.each([
    [
      "a running job without a lease",
      "update nightdesk_data.jobs set state = 'running' where job_id = $1",
    ],
    [
      "an ended job without a time",
      "update nightdesk_data.jobs set state = 'cancelled', error_code = 'CANCELLED', error_message = 'x' where job_id = $1",
    ],
    [
      "a failure without a code",
      "update nightdesk_data.jobs set state = 'failed', finished_at = now() where job_id = $1",
    ],
    [
      "a success without a run",
      "update nightdesk_data.jobs set state = 'succeeded', finished_at = now() where job_id = $1",
    ],
    [
      "a success with a code",
      "update nightdesk_data.jobs set state = 'succeeded', finished_at = now(), error_code = 'X', error_message = 'x' where job_id = $1",
    ],
    ["a job of another kind", "update nightdesk_data.jobs set kind = 'guess' where job_id = $1"],
    [
      "a batch held without a reason",
      "update nightdesk_data.batches set hold_until = now() where batch_id = (select batch_id from nightdesk_data.jobs where job_id = $1)",
    ],
    [
      "counts that do not add up",
      "update nightdesk_data.batch_counts set queued = queued + 1 where batch_id = (select batch_id from nightdesk_data.jobs where job_id = $1)",
    ],
  ])("the database refuses %s", async (_, statement) => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    await expect(db.query(statement, [jobIds[0]])).rejects.toMatchObject({ code: "23514" });
  });

  test("a transaction that dies between two statements leaves nothing behind", async () => {
    const batchName = randomUUID();
    const client = await db.pool.connect();
    await client.query("begin");
    await client.query("insert into nightdesk_data.batches (name) values ($1)", [batchName]);
    // The connection is cut, as by kill -9 of the worker.
    (
      client as unknown as { connection: { stream: { destroy(): void } } }
    ).connection.stream.destroy();
    client.release(true);
    expect(await countOf(db, "nightdesk_data.batches where name = $1", [batchName])).toBe(0);
  });

  test("progress is kept while the job runs, of the run that holds it, and goes with its end", async () => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const jobId = jobIds[0] ?? "";
    const progress = async () =>
      (await db.query("select run_id, progress from nightdesk_data.job_progress")).rows;
    const lost = await claimNext(db, jobId);
    await reportProgress(db, lost.runId, { done: 1, total: 4 });
    expect(await progress()).toEqual([{ run_id: lost.runId, progress: { done: 1, total: 4 } }]);
    await expireLease(db, jobId);
    await takeBackLostJobs(db);
    expect(await progress()).toEqual([]);
    const job = await claimNext(db, jobId);
    await reportProgress(db, lost.runId, { done: 4, total: 4 });
    expect(await progress()).toEqual([]);
    await reportProgress(db, job.runId, { done: 2, total: 4 });
    await succeed(job.runId);
    await reportProgress(db, job.runId, { done: 4, total: 4 });
    expect(await progress()).toEqual([]);
  });

  test("progress that is reported while runs end leaves no row behind", async () => {
    const { jobIds } = await openBatchOf(
      db,
      Array.from({ length: 12 }, (_, at) => askJob(`late ${at}`)),
    );
    const jobs: string[] = [];
    for (const jobId of jobIds) jobs.push((await claimNext(db, jobId)).runId);
    await Promise.all(
      jobs.flatMap((runId) => [reportProgress(db, runId, { done: 1 }), succeed(runId)]),
    );
    expect(await countOf(db, "nightdesk_data.job_progress")).toBe(0);
  });

  test("a worker is alive while its heart beats", async () => {
    const workerId = randomUUID();
    const host = randomUUID();
    await heartbeat(db, {
      workerId,
      host,
      pid: 1,
      version: "test",
      concurrency: 1,
      modelHosts: [],
      embedderHosts: [],
      documentsFrom: "files",
      configFile: "/nightdesk.yaml",
      sharedConfig: new Map(),
    });
    expect(await countAliveWorkers(db, host)).toBe(1);
    await db.query(
      "update nightdesk_data.workers set heartbeat_at = now() - interval '16 s' where worker_id = $1",
      [workerId],
    );
    expect(await countAliveWorkers(db, host)).toBe(0);
    await removeWorker(db, workerId);
    expect(await countOf(db, "nightdesk_data.workers where worker_id = $1", [workerId])).toBe(0);
  });
});
