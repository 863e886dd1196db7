import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createLogger } from "../../../src/shared/logger.ts";
import type { Database } from "../../../src/shared/store/connection/database.ts";
import { deleteOldActions, deleteOldSlice } from "../../../src/shared/store/jobs/retention.ts";
import { createFaultLog } from "../../../src/worker/loop.ts";
import { retentionOf, retentionService } from "../../../src/worker/services/retention.ts";
import { supervise } from "../../../src/worker/services/supervisor.ts";
import { askJob, countOf, openBatchOf } from "../../conformance/jobs.ts";
import { eventually } from "../../conformance/signal.ts";
import { startTopology } from "../../conformance/topologies.ts";
import type { Topology } from "../../conformance/topologies.ts";

let topology: Topology;
let db: Database;
beforeAll(async () => {
  topology = await startTopology("embedded");
  db = await topology.connect();
});
afterAll(async () => {
  await db.end();
  await topology.dispose();
});

const jobs = Array.from({ length: 7 }, (_, index) => askJob(`job ${index}`));

/** A batch of seven jobs that was cancelled so many days ago. */
async function oldBatch(days: number): Promise<string> {
  const { batchId } = await openBatchOf(db, jobs);
  await db.query(
    "update nightdesk_data.jobs set state = 'cancelled', finished_at = now(), error_code = 'CANCELLED', error_message = 'x' where batch_id = $1",
    [batchId],
  );
  await db.query(
    "update nightdesk_data.batches set state = 'cancelled', finished_at = now() - make_interval(days => $2::int) where batch_id = $1",
    [batchId, days],
  );
  return batchId;
}

const jobsOf = (batchId: string) =>
  countOf(db, "nightdesk_data.jobs where batch_id = $1", [batchId]);
const exists = async (batchId: string) =>
  (await countOf(db, "nightdesk_data.batches where batch_id = $1", [batchId])) === 1;

test("a slice takes jobs of one batch, and the batch when none is left", async () => {
  const [older, old] = [await oldBatch(50), await oldBatch(40)];
  const retention = { olderThanMs: 30 * 86_400_000, only: "any" } as const;
  const slices = [];
  for (let i = 0; i < 4; i += 1) slices.push(await deleteOldSlice(db, retention, 5));
  expect(slices).toMatchObject([
    { kind: "deleted", of: { batchId: older }, jobs: 5, batches: 0 },
    { kind: "deleted", of: { batchId: older }, jobs: 2, batches: 0 },
    { kind: "deleted", of: { batchId: older }, jobs: 0, batches: 1 },
    { kind: "deleted", of: { batchId: old }, jobs: 5, batches: 0 },
  ]);
  expect(await exists(older)).toBe(false);
  expect(await jobsOf(old)).toBe(2);
  await db.query("delete from nightdesk_data.batches");
});

test("what grows old while old batches are deleted is left alone", async () => {
  const [older, young] = [await oldBatch(31), await oldBatch(30)];
  const asOf = new Date(Date.now() - 3_600_000);
  const retention = { olderThanMs: 30 * 86_400_000, only: "any", asOf } as const;
  const slices = [];
  for (let i = 0; i < 3; i += 1) slices.push(await deleteOldSlice(db, retention, 7));
  expect(slices).toMatchObject([
    { of: { batchId: older }, jobs: 7, batches: 0 },
    { of: { batchId: older }, jobs: 0, batches: 1 },
    { of: null, jobs: 0, batches: 0 },
  ]);
  expect(await jobsOf(young)).toBe(7);
  await db.query("delete from nightdesk_data.batches");
});

test("the keeper deletes nothing while workers do not agree what is old, and asks again in a minute", async () => {
  const old = await oldBatch(31);
  const logger = createLogger("silent", "json");
  const runs = { ...topology.context.config.runs, keep_days: 30 };
  const parts = { database: db, logger, agrees: () => false };
  const once = { stopping: new AbortController().signal, wake: () => undefined };
  expect(await retentionService(parts, retentionOf({ runs })).run(once)).toBe(60_000);
  expect(await jobsOf(old)).toBe(7);
  await db.query("delete from nightdesk_data.batches");
});

test("the keeper deletes what the configuration calls old, and stops when it is told", async () => {
  const [old, young] = [await oldBatch(31), await oldBatch(29)];
  const logger = createLogger("silent", "json");
  const runs = { ...topology.context.config.runs, keep_days: 30 };
  const retention = retentionService(
    { database: db, logger, agrees: () => true },
    retentionOf({ runs }),
  );
  const keeper = supervise([retention], createFaultLog(logger));
  await eventually("the old batch is gone", async () => !(await exists(old)));
  await keeper.stop();
  expect(await jobsOf(young)).toBe(7);
  await db.query("delete from nightdesk_data.batches");
});

test("a configuration that keeps all has nothing to delete", () => {
  const { runs } = topology.context.config;
  expect(retentionOf({ runs })).toBeNull();
  expect(retentionOf({ runs: { ...runs, keep_days: 2, pin_until_exported: true } })).toEqual({
    olderThanMs: 172_800_000,
    only: "exported",
  });
});

test("what people did on pages goes when it is as old, and what is newer stays", async () => {
  await db.query(
    `insert into nightdesk_data.operator_actions (actor, action, at)
     select 'ada', 'pause', now() - make_interval(days => days) from unnest(array[50, 40, 31, 29, 0]) days`,
  );
  const retention = { olderThanMs: 30 * 86_400_000 };
  const gone: (number | null)[] = [];
  for (let i = 0; i < 3; i += 1) gone.push(await deleteOldActions(db, retention, 2));
  expect(gone).toEqual([2, 1, 0]);
  expect(await countOf(db, "nightdesk_data.operator_actions", [])).toBe(2);
});
