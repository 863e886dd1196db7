import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { startTrace } from "../../../src/worker/run-trace.ts";
import { settleError, settleOutcome } from "../../../src/shared/job/settlement.ts";
import type { Settlement } from "../../../src/shared/job/settlement.ts";
import type { Database } from "../../../src/shared/store/connection/database.ts";
import type { ClaimedJob } from "../../../src/shared/store/jobs/claim-job.ts";
import { settleRun } from "../../../src/shared/store/jobs/settle-run.ts";
import { residentBytes } from "../../../src/worker/forked-process.ts";
import { createRunJob } from "../../../src/worker/jobs/run-job.ts";
import type { RunJob } from "../../../src/worker/jobs/run-job.ts";
import { askJob, claimNext, MADE_WITH, openBatchOf } from "../../conformance/jobs.ts";
import { startTopology } from "../../conformance/topologies.ts";
import type { Topology } from "../../conformance/topologies.ts";
import { root } from "../../docs/read-doc.ts";
import { childrenStartedWith } from "../../support/child-processes.ts";
import { describeOn } from "../../support/describe-on.ts";

const PATH = "allowed/corpus/letter.jpg";
/** Of a process that has begun to read a page. */
const READING_BYTES = 150_000_000;

describeOn("postgres", "a page whose process is killed from outside", (name) => {
  let topology: Topology;
  let db: Database;
  let runJob: RunJob;
  let jobId = "";

  beforeAll(async () => {
    topology = await startTopology(name, {
      security: { allowed_exts: [".jpg"] },
      index: { ocr: { languages: ["eng"] } },
    });
    db = await topology.connect();
    runJob = createRunJob(topology.context, db);
    await mkdir(join(topology.workroot, "allowed", "corpus"), { recursive: true });
    await copyFile(
      join(root, "tests/corpora/scans/small/letter.jpg"),
      join(topology.workroot, PATH),
    );
    const { jobIds } = await openBatchOf(db, [
      askJob("page", { input: { kind: "ocr", path: PATH } }),
    ]);
    jobId = jobIds[0] ?? "";
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  async function attempt(
    killing: "killed" | "left alone",
    changes: Partial<ClaimedJob> = {},
  ): Promise<Settlement | undefined> {
    const job = { ...(await claimNext(db, jobId)), ...changes };
    const kill = (): void => {
      for (const pid of childrenStartedWith("documents/reader/child")) {
        if (residentBytes(pid) > READING_BYTES) process.kill(pid, "SIGKILL");
      }
    };
    const killer = killing === "killed" ? setInterval(kill, 5) : undefined;
    const trace = startTrace();
    const settlement = await runJob(job, trace, new AbortController().signal)
      .then(settleOutcome, (error: unknown) => settleError(error, job))
      .finally(() => {
        clearInterval(killer);
      });
    if (settlement !== undefined) {
      const run = { runId: job.runId, runMs: 1, ...MADE_WITH };
      await settleRun(db, run, settlement, trace.record());
    }
    await db.query("update nightdesk_data.jobs set due_at = clock_timestamp() where job_id = $1", [
      jobId,
    ]);
    return settlement;
  }
  const pages = async (): Promise<unknown[]> =>
    (await db.query("select page, record is null as is_given_up from nightdesk_data.ocr_pages"))
      .rows;

  test("is left to the next attempt, which reads it", async () => {
    await expect(attempt("killed")).resolves.toMatchObject({
      kind: "retry",
      code: "TOOL_ERROR",
      message: expect.stringMatching(/^1 of 1 pages not read: page 1 ended the process/),
    });
    await expect(pages()).resolves.toEqual([]);
    await expect(attempt("left alone")).resolves.toMatchObject({ kind: "succeeded" });
    await expect(pages()).resolves.toEqual([{ page: 1, is_given_up: false }]);
  }, 60_000);

  test("is given up by the last attempt", async () => {
    await db.query("truncate nightdesk_data.ocr_pages");
    const { jobIds } = await openBatchOf(db, [
      askJob("page", { input: { kind: "ocr", path: PATH } }),
    ]);
    jobId = jobIds[0] ?? "";
    await expect(attempt("killed", { attempt: 3 })).resolves.toMatchObject({
      kind: "refused",
      code: "FILE_FORMAT_INVALID",
    });
    await expect(pages()).resolves.toEqual([{ page: 1, is_given_up: true }]);
  }, 60_000);
});
