import { existsSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { settleOutcome } from "../../../src/shared/job/settlement.ts";
import type { Database } from "../../../src/shared/store/connection/database.ts";
import { settleRun } from "../../../src/shared/store/jobs/settle-run.ts";
import { createRunJob } from "../../../src/worker/jobs/run-job.ts";
import type { RunJob } from "../../../src/worker/jobs/run-job.ts";
import { startTrace } from "../../../src/worker/run-trace.ts";
import { askJob, claimNext, MADE_WITH, openBatchOf } from "../../conformance/jobs.ts";
import { startTopology } from "../../conformance/topologies.ts";
import type { Topology } from "../../conformance/topologies.ts";
import { describeOn } from "../../support/describe-on.ts";

describeOn("postgres", "a work root that is moved under a worker", (name) => {
  let topology: Topology;
  let db: Database;
  let runJob: RunJob;

  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
    runJob = createRunJob(topology.context, db);
    const folder = join(topology.workroot, "allowed", "corpus");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "lease.md"), "# Lease\n\nThe rent is 840 euros.\n");
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  async function index(): Promise<unknown> {
    const options = { prune_missing: true, embed: false };
    const { jobIds } = await openBatchOf(db, [
      askJob("index", { input: { kind: "index", options } }),
    ]);
    const job = await claimNext(db, jobIds[0] ?? "");
    const trace = startTrace();
    const settlement = settleOutcome(await runJob(job, trace, new AbortController().signal));
    await settleRun(db, { runId: job.runId, runMs: 1, ...MADE_WITH }, settlement, trace.record());
    return settlement;
  }
  const documents = async (): Promise<unknown[]> =>
    (await db.query("select path from nightdesk_data.documents")).rows;

  test("parks the job, is not made anew, and loses nothing of the index", async () => {
    await index();
    await expect(documents()).resolves.toEqual([{ path: "allowed/corpus/lease.md" }]);
    const { workroot } = topology;
    await rename(workroot, `${workroot}-moved`);
    try {
      await expect(index()).rejects.toMatchObject({ code: "SOURCE_UNAVAILABLE" });
      expect(existsSync(workroot)).toBe(false);
    } finally {
      await rename(`${workroot}-moved`, workroot);
    }
    await expect(documents()).resolves.toEqual([{ path: "allowed/corpus/lease.md" }]);
  });
});
