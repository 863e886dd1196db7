import { randomUUID } from "node:crypto";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { claimJob } from "../../src/shared/store/jobs/claim-job.ts";
import type { ClaimedJob } from "../../src/shared/store/jobs/claim-job.ts";
import { completeBatches } from "../../src/shared/store/jobs/batches.ts";
import { dispatchDueJobs } from "../../src/shared/store/jobs/dispatch.ts";
import { settleRun } from "../../src/shared/store/jobs/settle-run.ts";
import type { RunRecord } from "../../src/shared/store/jobs/run-tables.ts";
import type { Settlement } from "../../src/shared/job/settlement.ts";
import { FULL_RECORD, MADE_WITH } from "../conformance/jobs.ts";
import { rowsOf } from "./desk.ts";

const WORKER = randomUUID();
export const SHA256 = "b".repeat(64);

/** Does by SQL what a worker does: dispatches and settles jobs until the wanted number has ended. */
export async function workByHand(
  database: Database,
  wanted: number,
  settle: (job: ClaimedJob) => Settlement,
  record: RunRecord = RECORD,
): Promise<void> {
  const deadline = performance.now() + 20_000;
  for (let done = 0; done < wanted;) {
    if (performance.now() > deadline) throw new Error(`only ${done} of ${wanted} jobs came`);
    await dispatchDueJobs(database, 1_000);
    const waiting = await rowsOf(
      database,
      "select job_id, dispatch from nightdesk_data.jobs where dispatched_at is not null order by seq",
    );
    for (const row of waiting) {
      const delivery = { jobId: String(row["job_id"]), dispatch: Number(row["dispatch"]) };
      const job = await claimJob(database, delivery, WORKER);
      if (job === undefined) continue;
      await settleRun(database, { runId: job.runId, runMs: 12, ...MADE_WITH }, settle(job), record);
      done += 1;
    }
  }
  await completeBatches(database, null);
}

export const answered = (answer: string): Settlement => ({
  kind: "succeeded",
  outcome: {
    kind: "succeeded",
    answer: `${answer}\nScope: full evidence from read_text_file (10/10), sha256=${SHA256}`,
    scope: `Scope: full evidence from read_text_file (10/10), sha256=${SHA256}`,
    citations: [
      {
        number: 1,
        path: "allowed/corpus/a.md",
        heading: "Bleeding",
        chunkKey: null,
        lineStart: 1,
        lineEnd: 2,
      },
    ],
    summary: null,
  },
});

/** As `extract --preset classify` ends. */
export function labelled(label: string): Settlement {
  const settlement = answered(JSON.stringify({ label }));
  if (settlement.kind !== "succeeded") throw new Error("an answer is a success");
  return { ...settlement, outcome: { ...settlement.outcome, summary: { label } } };
}

export const refused: Settlement = {
  kind: "refused",
  code: "FILE_NOT_FOUND",
  message: "No file nowhere.md below the allowed roots.",
};

export const parked: Settlement = {
  kind: "parked",
  code: "MODEL_UNREACHABLE",
  message: "The model host does not answer.",
  delayMs: 60_000,
  host: null,
};

export const failed: Settlement = {
  kind: "failed",
  code: "MODEL_NOT_FOUND",
  message: "No such model.",
};

export const RECORD: RunRecord = {
  ...FULL_RECORD,
  evidence: [
    ...FULL_RECORD.evidence,
    {
      kind: "chunk",
      admitted: false,
      rejectedReason: "EVIDENCE_TRUNCATED",
      path: "allowed/corpus/b.md",
      source: "corpus",
      sha256: "c".repeat(64),
      textSha256: "e".repeat(64),
      extractor: "pdf 1",
      charsFull: 90,
      charsReturned: 40,
      truncated: true,
      chunkKey: "d".repeat(32),
      headingPath: "Brakes > Wear",
      locator: { page: 3 },
      startChar: 0,
      endChar: 40,
      lineStart: 3,
      lineEnd: 9,
      score: 1.5,
      preview: "",
    },
  ],
  replies: FULL_RECORD.replies.map((reply) => ({ ...reply, model: "extractive" })),
  models: FULL_RECORD.models.map((use) => ({ ...use, model: "extractive" })),
};
