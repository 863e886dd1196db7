import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { inFlightRuns } from "../../../src/worker/delivery/in-flight.ts";
import { leaseService } from "../../../src/worker/services/leases.ts";
import { askJob, claimNext, openBatchOf, rowOf } from "../../conformance/jobs.ts";
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
