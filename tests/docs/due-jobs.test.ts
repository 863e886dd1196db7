import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { askJob, openBatchOf } from "../conformance/jobs.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { describeOn } from "../support/describe-on.ts";
import { blocksOf, readDoc, sectionOf } from "./read-doc.ts";

const [block] = blocksOf(sectionOf(readDoc("docs/many-machines.md"), "Under Kubernetes"));

describeOn("postgres", "the number by which workers are scaled", (name) => {
  let topology: Topology;
  let db: Database;
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  /** What the statement of the docs says to a role that reads the views alone. */
  const count = () =>
    db.transaction(async (transaction) => {
      await transaction.query("set local role nightdesk_reader");
      const statement = (block?.body ?? "").replace("batch_progress", "nightdesk.batch_progress");
      return (await transaction.query(statement)).rows;
    });

  test("is that of jobs that could run, and not of those that are held", async () => {
    const jobs = [1, 2, 3].map((n) => askJob(`job ${n}`));
    expect(await count()).toEqual([{ jobs: "0" }]);
    await openBatchOf(db, jobs);
    const { batchId } = await openBatchOf(db, jobs.slice(1));
    expect(await count()).toEqual([{ jobs: "5" }]);
    const hold = (reason: string | null) =>
      db.query("update nightdesk_data.batches set hold_reason = $2 where batch_id = $1", [
        batchId,
        reason,
      ]);
    await hold("window");
    expect(await count()).toEqual([{ jobs: "3" }]);
    await hold(null);
    await db.query(
      "update nightdesk_data.jobs set state = 'cancelled', finished_at = now(), error_code = 'CANCELLED', error_message = 'x' where custom_id = 'job 1'",
    );
    expect(await count()).toEqual([{ jobs: "4" }]);
  });
});
