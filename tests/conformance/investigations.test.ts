import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import {
  decideApproval,
  reconcileApprovals,
  requestApproval,
  startStep,
  selectApproval,
} from "../../src/shared/store/investigations/approvals.ts";
import type { NewDecision } from "../../src/shared/store/investigations/approvals.ts";
import { openGrant } from "../../src/shared/store/investigations/grants.ts";
import type { NewGrant } from "../../src/shared/store/investigations/grants.ts";
import {
  beginToolStep,
  endToolStep,
  insertStep,
  selectOutput,
  selectSteps,
  settleOpenStep,
} from "../../src/shared/store/investigations/steps.ts";
import type { NewToolStep, ToolStepEnd } from "../../src/shared/store/investigations/steps.ts";
import type { ClaimedJob } from "../../src/shared/store/jobs/claim-job.ts";
import { takeBackLostJobs } from "../../src/shared/store/jobs/dispatch.ts";
import { settleRun } from "../../src/shared/store/jobs/settle-run.ts";
import type { Settlement } from "../../src/shared/job/settlement.ts";
import {
  askJob,
  claimNext,
  EMPTY_RECORD,
  expireLease,
  MADE_WITH,
  openBatchOf,
  rowOf,
} from "./jobs.ts";
import { databases, startTopology } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

const GRANT: NewGrant = {
  preset: "readonly_safe",
  presetSha256: "a".repeat(64),
  tools: ["read_text_file", "shell"],
  roots: ["notes"],
  limits: { maxSteps: 10, maxCalls: 5, maxTokens: 1_000, maxSeconds: 60 },
};
const stepAt = (ordinal: number, name = "shell"): NewToolStep => ({
  ordinal,
  name,
  state: "started",
  effect: name === "shell" ? "exec" : "none",
  args: { command: "git log" },
  argsSha256: "b".repeat(64),
  detail: { move: "other" },
});
const gave = (text: string): ToolStepEnd & { readonly keepOutputsDays: number } => {
  const content = Buffer.from(text);
  const sha256 = createHash("sha256").update(content).digest("hex");
  return {
    state: "done",
    result: { chars: text.length },
    error: null,
    durationMs: 1,
    detail: {},
    artifacts: [{ stream: "result", sha256, content, class: "evidence" }],
    cut: 0,
    keepOutputsDays: 14,
  };
};
const PARKED: Settlement = {
  kind: "parked",
  code: "APPROVAL_PENDING",
  message: "Somebody has to approve it.",
  delayMs: 0,
  host: null,
  waitingFor: "approval",
};
const ONCE: NewDecision = {
  verdict: "approve",
  scope: "once",
  reason: null,
  decidedBy: "Ada",
  expiresInSeconds: null,
};

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

  const claimed = async (jobs = 1): Promise<{ batchId: string; runs: readonly ClaimedJob[] }> => {
    const { batchId, jobIds } = await openBatchOf(
      db,
      Array.from({ length: jobs }, (_, at) =>
        askJob(`job-${at}`, { input: { kind: "investigate", task: "Look." } }),
      ),
    );
    const runs: ClaimedJob[] = [];
    for (const jobId of jobIds) {
      const run = await claimNext(db, jobId);
      await openGrant(db, run, GRANT);
      runs.push(run);
    }
    return { batchId, runs };
  };
  const one = async (): Promise<ClaimedJob> => {
    const [run] = (await claimed()).runs;
    if (run === undefined) throw new Error("no job was claimed");
    return run;
  };
  const settle = (run: ClaimedJob, settlement: Settlement) =>
    settleRun(db, { runId: run.runId, runMs: 1, ...MADE_WITH }, settlement, EMPTY_RECORD);
  /** Asks about a call, and parks its job. */
  const ask = async (run: ClaimedJob, seconds = 3_600, fingerprint = "c".repeat(64)) => {
    await beginToolStep(db, run, { ...stepAt(0), state: "waiting" });
    const answer = await requestApproval(db, run, {
      step: 0,
      fingerprint,
      tool: "shell",
      executor: "bubblewrap",
      args: { command: "git log" },
      risks: ["network"],
      preview: "git log",
      expiresInSeconds: seconds,
    });
    if (answer === "waiting") await settle(run, PARKED);
    return answer;
  };
  const approvalOf = async (run: ClaimedJob): Promise<string> => {
    const { rows } = await db.query(
      "select approval_id from nightdesk.approvals where job_id = $1",
      [run.jobId],
    );
    return (rows[0] as { approval_id: string }).approval_id;
  };

  test("a grant stays as it was made, whatever is asked for later, and ends with its job", async () => {
    const run = await one();
    const again = await openGrant(db, run, { ...GRANT, tools: ["everything"] });
    expect(again).toMatchObject({ tools: GRANT.tools });
    await expect(
      db.query("update nightdesk_data.grants set tools = '{everything}' where job_id = $1", [
        run.jobId,
      ]),
    ).rejects.toThrow("a grant is never changed");
    await settle(run, { kind: "refused", code: "STAGNATED", message: "Nothing." });
    await expect(
      db.query("update nightdesk_data.grants set ended_at = null where job_id = $1", [run.jobId]),
    ).rejects.toThrow("a grant is never changed");
  });

  test.each([
    ["begun", async () => undefined],
    [
      "ended",
      (run: ClaimedJob) =>
        db.query("update nightdesk_data.grants set ended_at = now() where job_id = $1", [
          run.jobId,
        ]),
    ],
    [
      "no_grant",
      (run: ClaimedJob) =>
        db.query("delete from nightdesk_data.grants where job_id = $1", [run.jobId]),
    ],
    ["lost", (run: ClaimedJob) => expireLease(db, run.jobId)],
  ] as const)("a call is %s", async (verdict, prepare) => {
    const run = await one();
    await prepare(run);
    expect(await beginToolStep(db, run, stepAt(0))).toBe(verdict);
    expect(await selectSteps(db, run.jobId)).toHaveLength(verdict === "begun" ? 1 : 0);
  });

  test("a tool outside of the grant leaves no row, and a run with another id is none", async () => {
    const run = await one();
    expect(await beginToolStep(db, run, stepAt(0, "web_fetch"))).toBe("not_granted");
    const other = { jobId: run.jobId, runId: (await one()).runId };
    expect(await beginToolStep(db, other, stepAt(0))).toBe("lost");
    expect(await insertStep(db, other, { ordinal: 0, kind: "end", detail: {} })).toBe(false);
    expect(await selectSteps(db, run.jobId)).toEqual([]);
  });

  test("a second step is not begun while one is open", async () => {
    const run = await one();
    await beginToolStep(db, run, stepAt(0));
    await expect(beginToolStep(db, run, stepAt(1))).rejects.toThrow("one_open_step_at_a_time");
  });

  test("equal outputs are kept once, and read by their step", async () => {
    const { runs } = await claimed(2);
    for (const run of runs) {
      await beginToolStep(db, run, stepAt(0));
      expect(await endToolStep(db, run, 0, gave("the same"))).toBe(true);
      expect(await endToolStep(db, run, 0, gave("again"))).toBe(false);
      expect(String(await selectOutput(db, run.jobId, 0, "result"))).toBe("the same");
    }
    const { rows } = await db.query(
      "select count(distinct sha256)::int as n from nightdesk.artifacts where job_id = any($1)",
      [runs.map(({ jobId }) => jobId)],
    );
    expect(rows).toEqual([{ n: 1 }]);
  });

  test("a job that waits for a person is due for nobody, and costs no attempt", async () => {
    const run = await one();
    expect(await ask(run)).toBe("waiting");
    expect(await rowOf(db, run.jobId)).toMatchObject({
      state: "parked",
      waiting_for: "approval",
      attempt: 0,
    });
    await expect(claimNext(db, run.jobId)).rejects.toThrow("could not be claimed");
  });

  test("one decision answers all that wait with the same fingerprint, and their jobs are due", async () => {
    const { runs } = await claimed(3);
    for (const run of runs) await ask(run, 3_600, "d".repeat(64));
    const [first] = runs;
    const decided = await decideApproval(db, await approvalOf(first as ClaimedJob), ONCE);
    expect(decided).toMatchObject({ kind: "decided", answered: 3, woken: 3 });
    for (const run of runs) {
      const next = await claimNext(db, run.jobId);
      expect(await selectApproval(db, run.jobId, 0)).toMatchObject({ state: "approved" });
      expect(await startStep(db, run, 0)).toBe(false);
      expect(await startStep(db, next, 0)).toBe(true);
      expect(await startStep(db, next, 0)).toBe(false);
    }
  });

  test("of two who answer at once the first wins, and the other is told who did", async () => {
    const run = await one();
    await ask(run, 3_600, "e".repeat(64));
    const id = await approvalOf(run);
    const answers = await Promise.all([
      decideApproval(db, id, ONCE),
      decideApproval(db, id, { ...ONCE, verdict: "deny", reason: "No.", decidedBy: "Bo" }),
    ]);
    expect(answers.map(({ kind }) => kind).sort()).toEqual(["decided", "late"]);
    const late = await decideApproval(db, id, ONCE);
    expect(late).toMatchObject({ kind: "late", decidedBy: expect.stringMatching(/^(Ada|Bo)$/) });
    expect(await decideApproval(db, "00000000-0000-0000-0000-000000000000", ONCE)).toEqual({
      kind: "unknown",
    });
  });

  test("a decision for a job or batch answers what it asks later, and nothing of others", async () => {
    const fingerprint = "f".repeat(64);
    const { runs } = await claimed(2);
    const other = await one();
    const [first, second] = runs as [ClaimedJob, ClaimedJob];
    await ask(first, 3_600, fingerprint);
    await ask(other, 3_600, fingerprint);
    const decided = await decideApproval(db, await approvalOf(first), { ...ONCE, scope: "batch" });
    expect(decided).toMatchObject({ answered: 1 });
    expect(await ask(second, 3_600, fingerprint)).toMatchObject({ verdict: "approve" });
    expect(await selectApproval(db, other.jobId, 0)).toMatchObject({ state: "waiting" });
  });

  test("a request that nobody answers expires, and its job is due to be refused", async () => {
    const run = await one();
    await ask(run, 0, "1".repeat(64));
    expect(await reconcileApprovals(db)).toMatchObject({ expired: 1, woken: 1 });
    expect(await selectApproval(db, run.jobId, 0)).toMatchObject({ state: "expired" });
    expect(await rowOf(db, run.jobId)).toMatchObject({ state: "queued", waiting_for: null });
    expect(await decideApproval(db, await approvalOf(run), ONCE)).toMatchObject({
      kind: "late",
      state: "expired",
    });
  });

  test("one that was answered while its run still parked is woken", async () => {
    const run = await one();
    await beginToolStep(db, run, { ...stepAt(0), state: "waiting" });
    await requestApproval(db, run, {
      step: 0,
      fingerprint: "2".repeat(64),
      tool: "shell",
      executor: "bubblewrap",
      args: {},
      risks: [],
      preview: "",
      expiresInSeconds: 60,
    });
    expect(await decideApproval(db, await approvalOf(run), ONCE)).toMatchObject({ woken: 0 });
    await settle(run, PARKED);
    expect(await reconcileApprovals(db)).toMatchObject({ woken: 1 });
    await claimNext(db, run.jobId);
  });

  test("a lost run leaves its step open for the next one to settle", async () => {
    const run = await one();
    await beginToolStep(db, run, stepAt(0));
    await expireLease(db, run.jobId);
    await takeBackLostJobs(db);
    await db.query("update nightdesk_data.jobs set due_at = now() where job_id = $1", [run.jobId]);
    const next = await claimNext(db, run.jobId);
    expect(await endToolStep(db, run, 0, gave("too late"))).toBe(false);
    expect(await settleOpenStep(db, next, 0, "uncertain")).toBe(true);
    expect(await selectSteps(db, run.jobId)).toMatchObject([{ state: "uncertain" }]);
  });

  test("a job that is cancelled while it waits withdraws what it asked, and skips the step", async () => {
    const run = await one();
    await ask(run, 3_600, "3".repeat(64));
    await db.query(
      `update nightdesk_data.jobs set state = 'cancelled', waiting_for = null, finished_at = now(), due_at = now(),
              error_code = 'CANCELLED', error_message = 'x' where job_id = $1`,
      [run.jobId],
    );
    expect(await selectApproval(db, run.jobId, 0)).toMatchObject({ state: "withdrawn" });
    expect(await selectSteps(db, run.jobId)).toMatchObject([{ state: "skipped" }]);
  });

  test.each([
    ["may have had its effect stays uncertain", "shell", "uncertain"],
    ["changes nothing is skipped", "read_text_file", "skipped"],
  ])("of a job that two workers were lost with, a step that %s", async (_, tool, state) => {
    const run = await one();
    await expireLease(db, run.jobId);
    await takeBackLostJobs(db);
    const next = await claimNext(db, run.jobId);
    await beginToolStep(db, next, stepAt(0, tool));
    await expireLease(db, run.jobId);
    await takeBackLostJobs(db);
    expect(await rowOf(db, run.jobId)).toMatchObject({
      state: "failed",
      error_code: "WORKER_LOST",
    });
    expect(await selectSteps(db, run.jobId)).toMatchObject([{ state }]);
  });
});
