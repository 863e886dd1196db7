import { randomUUID } from "node:crypto";
import type { JobInput } from "../../src/shared/job/job.ts";
import type { ClaimRecord } from "../../src/shared/job/run-result.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { requestReview } from "../../src/shared/store/jobs/draft-reviews.ts";
import { settleRun } from "../../src/shared/store/jobs/settle-run.ts";
import { askJob, claimNext, EMPTY_RECORD, MADE_WITH, openBatchOf } from "../conformance/jobs.ts";

type Asked = {
  readonly input?: JobInput;
  readonly draft?: string;
  readonly claims?: readonly ClaimRecord[];
};

/** A job whose answer somebody is asked about. @returns its id */
export async function waitForReview(
  db: Database,
  {
    input = { kind: "ask", question: "How long?" },
    draft = "24 minutes [1].",
    claims = [],
  }: Asked = {},
): Promise<string> {
  const { jobIds } = await openBatchOf(db, [askJob(randomUUID(), { input })]);
  const job = await claimNext(db, jobIds[0] ?? "");
  const parked = {
    kind: "parked",
    code: "ANSWER_REVIEW_PENDING",
    message: "Somebody is asked.",
    delayMs: 0,
    host: null,
    waitingFor: "review",
  } as const;
  await db.transaction(async (tx) => {
    await requestReview(tx, job, { draftSha256: "a".repeat(64), draft, why: "It did not pass." });
    const run = { ...MADE_WITH, runId: job.runId, runMs: 1 };
    await settleRun(tx, run, parked, { ...EMPTY_RECORD, claims });
  });
  return job.jobId;
}
