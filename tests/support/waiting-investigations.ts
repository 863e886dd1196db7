import { randomUUID } from "node:crypto";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { requestApproval } from "../../src/shared/store/investigations/approvals.ts";
import type {
  ApprovalRequest,
  StandingDecision,
} from "../../src/shared/store/investigations/approvals.ts";
import { openGrant } from "../../src/shared/store/investigations/grants.ts";
import { beginToolStep, settleOpenStep } from "../../src/shared/store/investigations/steps.ts";
import type { ToolStepBegun } from "../../src/shared/store/investigations/steps.ts";
import { findOrCreateBatch, openBatch } from "../../src/shared/store/jobs/batches.ts";
import { claimJob } from "../../src/shared/store/jobs/claim-job.ts";
import type { ClaimedJob } from "../../src/shared/store/jobs/claim-job.ts";
import { dispatchDueJobs } from "../../src/shared/store/jobs/dispatch.ts";
import { insertJobs } from "../../src/shared/store/jobs/insert-jobs.ts";
import { settleRun } from "../../src/shared/store/jobs/settle-run.ts";
import { askJob, dispatchOf, EMPTY_RECORD, MADE_WITH } from "../conformance/jobs.ts";

/** An open batch of investigations that nobody has begun. @returns its id and the job ids in order */
export async function investigationsOf(
  db: Database,
  name: string,
  jobs: number,
): Promise<{ readonly batchId: string; readonly jobIds: readonly string[] }> {
  const { batchId } = await findOrCreateBatch(db, name, "file");
  const names = Array.from({ length: jobs }, (_, at) => `${name}-${at}`);
  const ids = await insertJobs(
    db,
    batchId,
    names.map((id) => askJob(id, { input: { kind: "investigate", task: "Look." } })),
  );
  await openBatch(db, batchId);
  return { batchId, jobIds: names.map((id) => ids.get(id) ?? "") };
}

const WORKER = randomUUID();

/** Begins a job as a worker does, with its grant. */
export async function beginInvestigation(db: Database, jobId: string): Promise<ClaimedJob> {
  await dispatchDueJobs(db, 10_000);
  const delivery = { jobId, dispatch: await dispatchOf(db, jobId) };
  const run = await claimJob(db, delivery, WORKER);
  if (run === undefined) throw new Error(`job ${jobId} could not be claimed`);
  await openGrant(db, run, {
    preset: "shell_sandboxed",
    presetSha256: "a".repeat(64),
    tools: ["shell"],
    roots: ["allowed"],
    limits: { maxSteps: 10, maxCalls: 5, maxTokens: 1_000, maxSeconds: 60 },
  });
  return run;
}

export const GIT_LOG: ApprovalRequest = {
  step: 0,
  fingerprint: "c".repeat(64),
  tool: "shell",
  executor: "bubblewrap",
  args: { command: "git log", cwd: "." },
  risks: [],
  preview: "git log\nin /input",
  expiresInSeconds: 72 * 3_600,
};

/** Asks about a call as a run does, and parks the run where nobody has decided yet. */
export async function askAbout(
  db: Database,
  jobId: string,
  request: Partial<ApprovalRequest> = {},
): Promise<StandingDecision | "waiting" | "lost"> {
  const run = await beginInvestigation(db, jobId);
  const asked = { ...GIT_LOG, ...request };
  await beginCall(db, run, asked, "waiting");
  const answer = await requestApproval(db, run, asked);
  if (answer === "waiting") await park(db, run, "approval");
  return answer;
}

/** Writes the step of a call, as before it is made. */
export const beginCall = (
  db: Database,
  run: ClaimedJob,
  { step, args, tool }: ApprovalRequest,
  state: "started" | "waiting" = "started",
): Promise<ToolStepBegun> =>
  beginToolStep(db, run, {
    ordinal: step,
    name: tool,
    effect: "exec",
    state,
    args,
    argsSha256: "b".repeat(64),
    detail: { move: "other" },
  });

/** Leaves a step of which nobody knows whether it had its effect, with its run parked for a review. */
export async function leaveUncertain(db: Database, jobId: string): Promise<ClaimedJob> {
  const run = await beginInvestigation(db, jobId);
  await beginCall(db, run, GIT_LOG);
  await settleOpenStep(db, run, GIT_LOG.step, "uncertain");
  await park(db, run, "review");
  return run;
}

/** Parks a run for somebody. */
export async function park(
  db: Database,
  run: ClaimedJob,
  waitingFor: "approval" | "review",
): Promise<void> {
  await settleRun(
    db,
    { runId: run.runId, runMs: 1, ...MADE_WITH },
    {
      kind: "parked",
      code: waitingFor === "approval" ? "APPROVAL_PENDING" : "REVIEW_PENDING",
      message: "Somebody has to say.",
      delayMs: 0,
      host: null,
      waitingFor,
    },
    EMPTY_RECORD,
  );
}

/** Has queued jobs wait as another does: its rows are copied, so that thousands cost no thousands of runs. */
export async function waitLike(
  db: Database,
  template: string,
  jobIds: readonly string[],
): Promise<void> {
  const copy = (table: string, more: string) =>
    `insert into nightdesk_data.${table}
     select c.* from nightdesk_data.${table} t, copies,
            jsonb_populate_record(null::nightdesk_data.${table}, to_jsonb(t) || jsonb_build_object('job_id', copies.job_id, ${more})) c
      where t.job_id = $1`;
  const copies = `with copies as materialized (
    select job_id, md5('run' || job_id)::uuid as run_id, md5('grant' || job_id)::uuid as grant_id,
           md5('approval' || job_id)::uuid as approval_id
      from unnest($2::uuid[]) as job_id)`;
  for (const [table, more] of [
    ["runs", "'run_id', copies.run_id"],
    ["grants", "'grant_id', copies.grant_id"],
    ["steps", "'run_id', copies.run_id"],
    ["tool_calls", "'run_id', copies.run_id, 'grant_id', copies.grant_id"],
    ["approvals", "'approval_id', copies.approval_id"],
  ] as const) {
    await db.query(`${copies} ${copy(table, more)}`, [template, jobIds]);
  }
  await db.query(
    `${copies}
     update nightdesk_data.jobs j
        set state = 'parked', waiting_for = 'approval', due_at = 'infinity', dispatched_at = null, run_id = copies.run_id,
            error_code = t.error_code, error_message = t.error_message, started_at = t.started_at
       from copies, nightdesk_data.jobs t where j.job_id = copies.job_id and t.job_id = $1`,
    [template, jobIds],
  );
}
