import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { dispatchDueJobs } from "../../../src/shared/store/jobs/dispatch.ts";
import { askJob, openBatchOf } from "../../conformance/jobs.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";
import { planOf } from "../../support/plan-of.ts";

const JOBS = 3_000;

describe.each(ENGINES)("with $engine and a batch of many jobs", ({ open }) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await open();
    const jobs = Array.from({ length: JOBS }, (_, n) => askJob(`job ${n}`));
    await openBatchOf(database.db, jobs);
    await database.db.query("analyze nightdesk_data.jobs");
  }, 60_000);
  afterAll(() => database.close());

  test("a dispatch reads as many jobs as there is room for, in their order and by their age", async () => {
    const plan = await planOf(database.db, (db) => dispatchDueJobs(db, 100));
    expect(plan).toMatch(/Index Scan using jobs_to_dispatch on/);
    expect(plan).toMatch(/Index Scan using jobs_to_dispatch_by_age on/);
    expect(plan).not.toMatch(/(?:Seq|Bitmap Heap) Scan on jobs/);
  });
});
