import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { takeBackLostJobs } from "../../../src/shared/store/jobs/dispatch.ts";
import { inFlightRuns } from "../../../src/worker/delivery/in-flight.ts";
import { leaseService } from "../../../src/worker/services/leases.ts";
import { askJob, claimNext, expireLease, openBatchOf, rowOf } from "../../conformance/jobs.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

const ONCE = { stopping: new AbortController().signal, wake: () => undefined };

let opened: TestDatabase;
beforeAll(async () => {
  const [engine] = ENGINES;
  if (engine === undefined) throw new Error("there is always one in this process");
  opened = await engine.open();
});
afterAll(() => opened.close());

const WORKER = {
  workerId: randomUUID(),
  host: "desk",
  pid: 1,
  version: "0.0.0",
  concurrency: 2,
  modelHosts: [],
  embedderHosts: [],
  documentsFrom: "files" as const,
  configFile: "/etc/nightdesk.yaml",
  sharedConfig: new Map(),
};

test("the lease of a run that rests is not renewed, and that run alone is aborted", async () => {
  const { db } = opened;
  const { jobIds } = await openBatchOf(db, [askJob("moves"), askJob("rests")]);
  const [moves = "", rests = ""] = jobIds;
  const moving = await claimNext(db, moves);
  const resting = await claimNext(db, rests);
  const runs = inFlightRuns();
  const { signal: goesOn } = runs.start(moving.runId);
  const { signal: givenUp, moved } = runs.start(resting.runId);
  // It may take no time for what it does next.
  moved(-1);
  await db.query(
    "update nightdesk_data.jobs set lease_until = clock_timestamp() + interval '1 s' where job_id = any($1)",
    [jobIds],
  );
  const leaseOf = async (jobId: string) => (await rowOf(db, jobId))["lease_until"] as Date;
  const before = { moves: await leaseOf(moves), rests: await leaseOf(rests) };
  await leaseService({ database: db, worker: WORKER, runs }).run(ONCE);
  expect(await leaseOf(rests)).toEqual(before.rests);
  expect((await leaseOf(moves)).getTime()).toBeGreaterThan(before.moves.getTime() + 5_000);
  expect([goesOn.aborted, givenUp.aborted]).toEqual([false, true]);
  expect(givenUp.reason).toMatchObject({ code: "TOOL_ERROR" });
});

test("a run whose job a transaction holds is looked at again soon, and is not aborted", async () => {
  const { db } = opened;
  const { jobIds } = await openBatchOf(db, [askJob("held")]);
  const held = await claimNext(db, jobIds[0] ?? "");
  const runs = inFlightRuns();
  const { signal } = runs.start(held.runId);
  const service = leaseService({ database: db, worker: WORKER, runs });
  const restWhileHeld = await db.transaction(async (transaction) => {
    await transaction.query("select from nightdesk_data.jobs where run_id = $1 for update", [
      held.runId,
    ]);
    return service.run(ONCE);
  });
  expect([restWhileHeld, await service.run(ONCE)]).toEqual([500, 5_000]);
  expect(signal.aborted).toBe(false);
});

test("a run whose job is another's by now is aborted", async () => {
  const { db } = opened;
  const { jobIds } = await openBatchOf(db, [askJob("lost")]);
  const lost = await claimNext(db, jobIds[0] ?? "");
  const runs = inFlightRuns();
  const { signal } = runs.start(lost.runId);
  await expireLease(db, jobIds[0] ?? "");
  await takeBackLostJobs(db);
  await leaseService({ database: db, worker: WORKER, runs }).run(ONCE);
  expect([signal.aborted, signal.reason]).toMatchObject([true, { why: "lease_lost" }]);
});
