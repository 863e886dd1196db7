import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { insertDigests } from "../../src/producer/selection/digests.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { findOrCreateBatch, openBatch } from "../../src/shared/store/jobs/batches.ts";
import { cancelBatch } from "../../src/shared/store/jobs/close-batches.ts";
import { insertDependencies, selectFileJobs } from "../../src/shared/store/jobs/dependencies.ts";
import { insertJobs } from "../../src/shared/store/jobs/insert-jobs.ts";
import { settleRun } from "../../src/shared/store/jobs/settle-run.ts";
import { settleOutcome } from "../../src/shared/job/settlement.ts";
import type { Settlement } from "../../src/shared/job/settlement.ts";
import type { JobInput } from "../../src/shared/job/job.ts";
import { createRunJob } from "../../src/worker/jobs/run-job.ts";
import { startWorker } from "../../src/worker/start.ts";
import type { RunningWorker } from "../../src/worker/start.ts";
import { describeOn } from "../support/describe-on.ts";
import {
  answered,
  askJob,
  claimNext,
  EMPTY_RECORD,
  MADE_WITH,
  openBatchOf,
  rowOf,
} from "./jobs.ts";
import { eventually } from "./signal.ts";
import { startTopology } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

const FILES = {
  "allowed/corpus/rail/trains.md":
    "# Trains\n\nTrains leave the valley every 20 minutes until midnight.\n",
  "allowed/corpus/rail/tickets.md":
    "# Tickets\n\nA ticket for the whole valley costs 4 EUR a day.\n",
  "allowed/corpus/board/minutes.md":
    "# Minutes of the meeting, 3 May 2026\n\nPresent: Ada Lind (chair).\n\n- [ ] Ada Lind must order the rope by 30 June 2026.\n",
} as const;
const MISSING = "allowed/corpus/rail/missing.md";

describeOn("postgres", "digests", (name) => {
  let topology: Topology;
  let db: Database;
  let worker: RunningWorker | undefined;
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
    for (const [path, text] of Object.entries(FILES)) {
      await mkdir(dirname(join(topology.workroot, path)), { recursive: true });
      await writeFile(join(topology.workroot, path), text);
    }
  });
  afterEach(async () => {
    await worker?.stop(0);
    worker = undefined;
    await db.query("delete from nightdesk_data.batches");
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  const start = async () => {
    worker = await startWorker(topology.context, 2, (database) =>
      createRunJob(topology.context, database),
    );
  };
  const rows = async (sql: string) => (await db.query(sql)).rows as Record<string, unknown>[];
  const batchEnds = () =>
    eventually("the batch ends", async () => {
      const [row] = await rows("select state from nightdesk_data.batches");
      return row?.["state"] === "completed";
    });

  async function queue(inputs: readonly JobInput[]): Promise<string> {
    const { batchId } = await findOrCreateBatch(db, "night", "file");
    await db.transaction(async (session) => {
      const jobs = inputs.map((input, index) => ({
        customId: String(index),
        input,
        inputSha256: "a".repeat(64),
        priority: 0,
      }));
      await insertJobs(session, batchId, jobs);
      await insertDigests(session, await selectFileJobs(session, batchId), {
        batchId,
        title: "night",
        options: {},
        affinityOf: () => "extractive",
      });
      await openBatch(session, batchId);
    });
    return batchId;
  }
  const summaries = (paths: readonly string[]) =>
    paths.map((path): JobInput => ({ kind: "summarize", path }));

  test("a folder and then the batch are told when their last child has ended, with what failed by name", async () => {
    await queue(summaries([...Object.keys(FILES), MISSING]));
    expect(
      await rows(
        "select custom_id, waits_for from nightdesk_data.jobs where kind = 'digest' order by seq",
      ),
    ).toEqual([
      { custom_id: "digest allowed/corpus/board/", waits_for: 1 },
      { custom_id: "digest allowed/corpus/rail/", waits_for: 3 },
      { custom_id: "digest", waits_for: 2 },
    ]);
    await start();
    await batchEnds();
    const [board, rail, all] = await rows(
      "select state, answer, output from nightdesk.results where kind = 'digest' order by created_at, custom_id <> 'digest' desc, custom_id",
    );
    expect(board).toMatchObject({ state: "succeeded" });
    expect(rail?.["answer"]).toMatch(
      /^- A ticket .* \[1\]\n- Trains leave .* \[2\]\n\nNot in this digest:\n- allowed\/corpus\/rail\/missing\.md: refused, FILE_NOT_FOUND\nScope: 2 answers of 3 jobs, snapshot=[0-9a-f]{64}$/,
    );
    expect(rail?.["output"]).toMatchObject({
      children: 3,
      succeeded: 2,
      failed: [{ path: MISSING, state: "refused", error_code: "FILE_NOT_FOUND" }],
    });
    expect(all?.["answer"]).toContain("Scope: 2 answers of 2 jobs");
    expect(all?.["answer"]).toContain(`- ${MISSING}: refused, FILE_NOT_FOUND`);
    const citations = await rows(
      `select r.citations from nightdesk_data.runs r join nightdesk_data.jobs j using (job_id) where j.custom_id = 'digest'`,
    );
    const digests = await rows(
      "select job_id from nightdesk_data.jobs where custom_id like 'digest allowed%' order by seq",
    );
    expect(citations[0]?.["citations"]).toMatchObject(
      digests.map(({ job_id: jobId }, index) => ({ number: index + 1, jobId })),
    );
  });

  test("a cancelled batch takes its digests with it", async () => {
    const batchId = await queue(summaries(Object.keys(FILES)));
    await cancelBatch(db, batchId);
    expect(await rows("select distinct state from nightdesk_data.jobs")).toEqual([
      { state: "cancelled" },
    ]);
  });

  test("a job waits for those of its children that run or are parked, and for none that has ended", async () => {
    const { batchId, jobIds } = await openBatchOf(
      db,
      ["a", "b", "c"].map((id) => askJob(id)),
    );
    const [ended = "", parked = "", running = ""] = jobIds;
    const settle = async (jobId: string, settlement: Settlement) => {
      const { runId } = await claimNext(db, jobId);
      await settleRun(db, { runId, runMs: 1, ...MADE_WITH }, settlement, EMPTY_RECORD);
    };
    await settle(ended, settleOutcome(answered("yes")));
    const why = {
      code: "MODEL_UNREACHABLE",
      message: "down",
      delayMs: 60_000,
      host: null,
    } as const;
    await settle(parked, { kind: "parked", ...why });
    await claimNext(db, running);
    const parents = await insertJobs(db, batchId, [askJob("parent")]);
    const parentId = parents.get("parent") ?? "";
    await insertDependencies(
      db,
      jobIds.map((childId) => ({ parentId, childId })),
    );
    expect((await rowOf(db, parentId))["waits_for"]).toBe(2);
  });

  test("a digest of jobs that have ended already is due at once", async () => {
    await queue(summaries(Object.keys(FILES)));
    await start();
    await batchEnds();
    await worker?.stop(0);
    const [batch] = await rows("select batch_id from nightdesk_data.batches");
    const batchId = String(batch?.["batch_id"]);
    await db.transaction(async (session) => {
      const plan = { batchId, title: "night", options: {}, affinityOf: () => "" };
      await insertDigests(session, await selectFileJobs(session, batchId), plan);
      await openBatch(session, batchId);
    });
    expect(
      await rows(
        "select custom_id, waits_for from nightdesk_data.jobs where custom_id like 'digest 2%' order by seq",
      ),
    ).toEqual([
      { custom_id: "digest 2 allowed/corpus/board/", waits_for: 0 },
      { custom_id: "digest 2 allowed/corpus/rail/", waits_for: 0 },
      { custom_id: "digest 2", waits_for: 2 },
    ]);
    await start();
    await batchEnds();
    expect(
      await rows(
        "select answer from nightdesk.results where custom_id in ('digest', 'digest 2') group by answer",
      ),
    ).toHaveLength(1);
  });

  test("extractions are rows of the views of their presets", async () => {
    const path = "allowed/corpus/board/minutes.md";
    const labels = ["invoice", "minutes"];
    await queue([
      { kind: "extract", path, preset: "classify", labels },
      { kind: "extract", path, preset: "actions" },
      { kind: "extract", path, preset: "people" },
      { kind: "extract", path, schema: { type: "object", properties: { a: { type: "string" } } } },
    ]);
    await start();
    await batchEnds();
    expect(await rows("select label, quote_class, path from nightdesk.classifications")).toEqual([
      { label: "minutes", quote_class: "verbatim", path },
    ]);
    expect(
      await rows(
        "select action, owner, due, due_date::text, quote_class, line_start from nightdesk.action_items",
      ),
    ).toEqual([
      {
        action: "Ada Lind must order the rope by 30 June 2026.",
        owner: "Ada Lind",
        due: "30 June 2026",
        due_date: "2026-06-30",
        quote_class: "verbatim",
        line_start: 5,
      },
    ]);
    expect(
      await rows(
        "select kind, name, role, day::text, quote_class from nightdesk.people_and_dates order by kind desc, ordinal",
      ),
    ).toEqual([
      { kind: "person", name: "Ada Lind", role: "chair", day: null, quote_class: "verbatim" },
      { kind: "date", name: null, role: null, day: "2026-05-03", quote_class: "verbatim" },
      { kind: "date", name: null, role: null, day: "2026-06-30", quote_class: "verbatim" },
    ]);
    expect(await rows("select error_code from nightdesk.results where state = 'refused'")).toEqual([
      { error_code: "MODEL_UNSUPPORTED" },
    ]);
  });
});
