import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { cancelBatch } from "../../src/shared/store/jobs/close-batches.ts";
import { removeWorker } from "../../src/shared/store/jobs/workers.ts";
import { askJob, claimNext, countOf, openBatchOf, rowOf, WORKER } from "./jobs.ts";
import { databases, startTopology } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

describe.each(databases)("on %s", (name) => {
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

  test("a worker that signs off hands back the jobs whose results it could not write", async () => {
    const { batchId, jobIds } = await openBatchOf(db, [askJob("a"), askJob("b")]);
    const [first = ""] = jobIds;
    const { runId } = await claimNext(db, first);
    await removeWorker(db, WORKER);
    expect(await rowOf(db, first)).toMatchObject({ state: "queued", attempt: 0, losses: 0 });
    expect(await countOf(db, "nightdesk_data.runs where state = 'handed_back'")).toBe(1);
    expect((await claimNext(db, first)).runId).not.toBe(runId);
    // What is to be cancelled does not become due again.
    await cancelBatch(db, batchId);
    await removeWorker(db, WORKER);
    expect(await rowOf(db, first)).toMatchObject({ state: "running", cancel_requested: true });
  });
});
