import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { Failure } from "../../../src/shared/failure.ts";
import type { Refusal } from "../../../src/shared/failure.ts";
import type { Database } from "../../../src/shared/store/connection/database.ts";
import {
  decideApproval,
  reconcileApprovals,
} from "../../../src/shared/store/investigations/approvals.ts";
import type { NewDecision } from "../../../src/shared/store/investigations/approvals.ts";
import { resolveStep } from "../../../src/shared/store/investigations/reviews.ts";
import { takeBackLostJobs } from "../../../src/shared/store/jobs/dispatch.ts";
import { startTrace } from "../../../src/worker/run-trace.ts";
import { openRecord } from "../../../src/worker/jobs/investigate/record.ts";
import type { InvestigationRecord } from "../../../src/worker/jobs/investigate/record.ts";
import { settleLastStep } from "../../../src/worker/jobs/investigate/resume.ts";
import { openStepLog } from "../../../src/worker/jobs/investigate/step-log.ts";
import { useTool } from "../../../src/worker/jobs/investigate/use-tool.ts";
import { defineTool, outputOf } from "../../../src/worker/tools/tool.ts";
import { expireLease } from "../../conformance/jobs.ts";
import { startTopology, databases } from "../../conformance/topologies.ts";
import type { Topology } from "../../conformance/topologies.ts";
import { toolReach } from "../../support/tool-reach.ts";
import {
  beginInvestigation,
  investigationsOf,
  park,
} from "../../support/waiting-investigations.ts";

const APPROVE: NewDecision = {
  verdict: "approve",
  scope: "once",
  reason: null,
  decidedBy: "Ada",
  expiresInSeconds: null,
};
const DENY: NewDecision = { ...APPROVE, verdict: "deny", reason: "Read notes/log.md." };
const CALL = { name: "shell", args: { command: "git log" } };

/** A tool that has to be asked about, and writes down what it was called with. */
function createShell() {
  const made: string[] = [];
  const settings = { executor: "bubblewrap", dies: false };
  const tool = defineTool({
    name: "shell",
    description: "Runs a command.",
    args: z.strictObject({ command: z.string() }),
    effect: "exec",
    move: "other",
    isEvidence: false,
    limits: { callsPerRun: 10 },
    async approval({ command }) {
      if (settings.dies) throw new Error("its worker was lost");
      return {
        executor: settings.executor,
        risks: ["writes"],
        preview: command,
        why: "its program writes",
        instead: "a command that only reads",
      };
    },
    async run({ command }) {
      made.push(command);
      return outputOf("it printed this");
    },
  });
  return { tool, made, settings };
}

describe.each(databases)("a call that needs approval, on %s", (name) => {
  let topology: Topology;
  let db: Database;
  let batches = 0;
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  type Ran = {
    /** `went on`, a refusal, or the code that parked it. */
    readonly ended: string | Refusal;
    readonly record: InvestigationRecord;
  };

  const lose = async (jobId: string) => {
    await expireLease(db, jobId);
    await takeBackLostJobs(db);
    await db.query("update nightdesk_data.jobs set due_at = now() where job_id = $1", [jobId]);
  };

  const statesOf = async (jobId: string): Promise<readonly unknown[]> => {
    const { rows } = await db.query(
      "select state from nightdesk_data.steps where job_id = $1 order by ordinal",
      [jobId],
    );
    return (rows as { state: string }[]).map(({ state }) => state);
  };

  /** An investigation whose runs each settle what the last one left, and then make the calls. */
  async function investigation(unattended: "park" | "deny" | "fail" = "park", hours = 72) {
    const { jobIds } = await investigationsOf(db, `batch-${(batches += 1)}`, 1);
    const jobId = jobIds[0] ?? "";
    const shell = createShell();
    const granted: { roots?: readonly string[] } = {};
    const open = async () => {
      const run = await beginInvestigation(db, jobId);
      const log = openStepLog(db, run, { keepDays: 14, batchBytes: 1_000_000 });
      const grant = await log.findGrant();
      if (grant === undefined) throw new Error("it has no grant");
      const record = openRecord(await log.load());
      const use = {
        grant: { ...grant, ...granted },
        tools: [shell.tool],
        reach: toolReach(),
        record,
        log,
        settings: { unattended, approval_hours: hours },
        trace: startTrace(),
        signal: new AbortController().signal,
      };
      return { run, use };
    };
    const run = async (...calls: readonly (typeof CALL)[]): Promise<Ran> => {
      const { run: claimed, use } = await open();
      try {
        const settled = await settleLastStep(use);
        if (settled !== null) return { ended: settled, record: use.record };
        for (const call of calls) {
          const refused = await useTool(use, call);
          if (refused !== null) return { ended: refused, record: use.record };
        }
        return { ended: "went on", record: use.record };
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        await park(db, claimed, error.code === "APPROVAL_PENDING" ? "approval" : "review");
        return { ended: error.code, record: use.record };
      }
    };
    const decide = async (decision: NewDecision) => {
      const { rows } = await db.query(
        "select approval_id from nightdesk_data.approvals where job_id = $1 and state = 'waiting'",
        [jobId],
      );
      return decideApproval(db, (rows[0] as { approval_id: string }).approval_id, decision);
    };
    /** A worker that is lost between the row before the call and the row after it. */
    const dieDuringCall = async (state: "started" | "waiting" = "started") => {
      const { use, run: claimed } = await open();
      await use.log.beginTool({
        ordinal: use.record.nextOrdinal,
        name: "shell",
        effect: "exec",
        state,
        args: CALL.args,
        argsSha256: "b".repeat(64),
        detail: { move: "other" },
      });
      await lose(claimed.jobId);
    };
    /** A worker that is lost while it finds out whether somebody has to be asked. */
    const dieBeforeCall = async (...calls: readonly (typeof CALL)[]) => {
      shell.settings.dies = true;
      await expect(run(...calls)).rejects.toThrow("its worker was lost");
      shell.settings.dies = false;
      await lose(jobId);
    };
    return { jobId, shell, granted, run, decide, dieDuringCall, dieBeforeCall };
  }

  test("is made once when somebody approves it, by the run that goes on", async () => {
    const { run, decide, shell } = await investigation();
    expect((await run(CALL)).ended).toBe("APPROVAL_PENDING");
    expect(shell.made).toEqual([]);
    await decide(APPROVE);
    const { ended, record } = await run();
    expect(ended).toBe("went on");
    expect(shell.made).toEqual(["git log"]);
    expect(record.steps).toMatchObject([
      { state: "done", tool: { output: { text: "it printed this" } } },
    ]);
  });

  test("is asked about again after a decision for once, and not after one for the job", async () => {
    const { run, decide, shell } = await investigation();
    await run(CALL);
    await decide(APPROVE);
    expect((await run(CALL)).ended).toBe("APPROVAL_PENDING");
    await decide({ ...APPROVE, scope: "job" });
    expect((await run(CALL, CALL)).ended).toBe("went on");
    expect(shell.made).toEqual(Array(4).fill("git log"));
  });

  test("is asked about where a decision for the job was about other arguments", async () => {
    const { run, decide, shell } = await investigation();
    await run(CALL);
    await decide({ ...APPROVE, scope: "job" });
    const other = { ...CALL, args: { command: "git push" } };
    expect((await run(CALL, other)).ended).toBe("APPROVAL_PENDING");
    expect(shell.made).toEqual(["git log", "git log"]);
  });

  test.each([
    ["to show", "x".repeat(4_001)],
    ["with what is hidden in it", `git ${"\u00ad".repeat(600)}`],
  ])("is refused where it is too long %s", async (_, command) => {
    const { run, jobId, shell } = await investigation();
    const { ended, record } = await run({ ...CALL, args: { command } });
    expect(ended).toBe("went on");
    expect(shell.made).toEqual([]);
    expect(record.steps).toMatchObject([
      { state: "denied", tool: { error: { message: expect.stringContaining("Make it shorter") } } },
    ]);
    const { rows } = await db.query("select from nightdesk_data.approvals where job_id = $1", [
      jobId,
    ]);
    expect(rows).toEqual([]);
  });

  test("is shown whole, and what is hidden in it as escapes", async () => {
    const { run, jobId } = await investigation();
    const hidden = "\u00ad\u202e\u3164\u200d\u00a0\ufe0f\u{e0041}\r\0\ud800";
    const command = `git${hidden} log\n${"y".repeat(3_800)} end`;
    expect((await run({ ...CALL, args: { command } })).ended).toBe("APPROVAL_PENDING");
    const { rows } = await db.query("select preview from nightdesk.approvals where job_id = $1", [
      jobId,
    ]);
    expect(rows).toEqual([
      {
        preview:
          "git<U+00AD><U+202E><U+3164><U+200D><U+00A0><U+FE0F><U+E0041><U+000D><U+0000><U+D800> log\n" +
          `${"y".repeat(3_800)} end`,
      },
    ]);
  });

  test("is asked about where a rule was about the same call in other folders", async () => {
    const first = await investigation();
    first.granted.roots = ["public/"];
    await first.run(CALL);
    await first.decide({ ...APPROVE, scope: "rule", expiresInSeconds: 3_600 });
    const other = await investigation();
    other.granted.roots = ["private/"];
    expect((await other.run(CALL)).ended).toBe("APPROVAL_PENDING");
    const same = await investigation();
    same.granted.roots = ["public/"];
    expect((await same.run(CALL)).ended).toBe("went on");
  });

  test("is not made where it would be another by now", async () => {
    const { run, decide, shell } = await investigation();
    await run(CALL);
    await decide(APPROVE);
    shell.settings.executor = "host";
    const { ended, record } = await run();
    expect(ended).toBe("went on");
    expect(shell.made).toEqual([]);
    expect(record.steps).toMatchObject([
      {
        state: "denied",
        tool: { error: { message: expect.stringContaining("not what would be") } },
      },
    ]);
  });

  test("is denied with the reason that the model is told", async () => {
    const { run, decide, shell } = await investigation();
    await run(CALL);
    await decide(DENY);
    const { ended, record } = await run();
    expect(ended).toBe("went on");
    expect(shell.made).toEqual([]);
    expect(record.steps).toMatchObject([
      { state: "denied", tool: { error: { message: "It was denied: Read notes/log.md." } } },
    ]);
  });

  test("refuses its job when nobody answers in time", async () => {
    const { run, shell } = await investigation("park", 0);
    await run(CALL);
    await reconcileApprovals(db);
    expect((await run()).ended).toMatchObject({ kind: "refused", code: "APPROVAL_EXPIRED" });
    expect(shell.made).toEqual([]);
  });

  test("is denied, or refuses its job, where nobody may be asked", async () => {
    const denied = await investigation("deny");
    const told = await denied.run(CALL);
    expect(told.ended).toBe("went on");
    expect(told.record.steps[0]?.tool?.error?.message).toBe(
      "Somebody has to approve this call, because its program writes, and nobody is there. Do not ask for it again. " +
        "What runs without asking: a command that only reads.",
    );
    const failed = await investigation("fail");
    expect((await failed.run(CALL)).ended).toMatchObject({ code: "APPROVAL_DENIED" });
    expect([...denied.shell.made, ...failed.shell.made]).toEqual([]);
  });

  describe("whose worker was lost", () => {
    test("before somebody was asked, is asked about and looked for by nobody", async () => {
      const { run, shell, decide, dieBeforeCall } = await investigation();
      await dieBeforeCall(CALL);
      expect((await run(CALL)).ended).toBe("APPROVAL_PENDING");
      await decide(APPROVE);
      expect((await run()).ended).toBe("went on");
      expect(shell.made).toEqual(["git log"]);
    });

    test("with its step and before the request, is asked about", async () => {
      const { jobId, run, shell, decide, dieDuringCall } = await investigation();
      await dieDuringCall("waiting");
      expect((await run()).ended).toBe("APPROVAL_PENDING");
      expect(shell.made).toEqual([]);
      await decide(APPROVE);
      expect((await run()).ended).toBe("went on");
      expect(shell.made).toEqual(["git log"]);
      expect(await statesOf(jobId)).toEqual(["done"]);
    });

    test("after it was approved and before it was made, is made by the next", async () => {
      const { run, shell, decide, dieBeforeCall } = await investigation();
      await run(CALL);
      await decide(APPROVE);
      await dieBeforeCall();
      expect((await run()).ended).toBe("went on");
      expect(shell.made).toEqual(["git log"]);
    });

    test("is not made again, and the model is told so, where a person says that it happened", async () => {
      const { jobId, run, shell, dieDuringCall } = await investigation();
      await dieDuringCall();
      expect((await run()).ended).toBe("REVIEW_PENDING");
      await resolveStep(db, jobId, 0, { state: "done", decidedBy: "Ada" });
      const { ended, record } = await run();
      expect(ended).toBe("went on");
      expect(shell.made).toEqual([]);
      expect(record.steps).toMatchObject([
        { state: "done", tool: { error: { message: expect.stringContaining("Ada looked") } } },
      ]);
    });

    test("is asked about like any other where a person says that it did not", async () => {
      const { jobId, run, shell, decide, dieDuringCall } = await investigation();
      await dieDuringCall();
      await run();
      await resolveStep(db, jobId, 0, { state: "skipped", decidedBy: "Ada" });
      expect((await run(CALL)).ended).toBe("APPROVAL_PENDING");
      await decide(APPROVE);
      expect((await run()).ended).toBe("went on");
      expect(shell.made).toEqual(["git log"]);
    });
  });
});
