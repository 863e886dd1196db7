import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import {
  decideApproval,
  reconcileApprovals,
} from "../../src/shared/store/investigations/approvals.ts";
import type {
  ApprovalRequest,
  NewDecision,
} from "../../src/shared/store/investigations/approvals.ts";
import {
  insertCommandRule,
  selectCommandRules,
} from "../../src/shared/store/investigations/command-rules.ts";
import { revokeDecision } from "../../src/shared/store/investigations/decisions.ts";
import { resolveStep } from "../../src/shared/store/investigations/reviews.ts";
import { selectSteps, settleOpenStep } from "../../src/shared/store/investigations/steps.ts";
import {
  askAbout,
  beginCall,
  beginInvestigation,
  GIT_LOG,
  investigationsOf,
  leaveUncertain,
  park,
  waitLike,
} from "../support/waiting-investigations.ts";
import { pauseBatch, resumeBatch } from "../../src/shared/store/jobs/batch-settings.ts";
import { decideReview, requestReview } from "../../src/shared/store/jobs/draft-reviews.ts";
import { evaluateHolds, selectHolds } from "../../src/shared/store/jobs/holds.ts";
import { claimNext, countOf, rowOf } from "./jobs.ts";
import { databases, startTopology } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

const ONCE: NewDecision = {
  verdict: "approve",
  scope: "once",
  reason: null,
  decidedBy: "Ada",
  expiresInSeconds: null,
};
const RULE: NewDecision = { ...ONCE, scope: "rule", expiresInSeconds: 3_600 };

describe.each(databases)("on %s", (name) => {
  let topology: Topology;
  let db: Database;
  let calls = 0;
  const newFingerprint = () => (calls += 1).toString(16).padStart(64, "0");
  const approvalOf = async (jobId: string): Promise<string> => {
    const { rows } = await db.query(
      "select approval_id from nightdesk_data.approvals where job_id = $1",
      [jobId],
    );
    return (rows[0] as { approval_id: string }).approval_id;
  };
  /** Runs of one batch that wait for the same call. */
  const waiting = async (
    jobs: number,
    fingerprint: string,
    asked: Partial<ApprovalRequest> = {},
  ): Promise<readonly string[]> => {
    const { jobIds } = await investigationsOf(db, `batch-${(calls += 1)}`, jobs);
    for (const jobId of jobIds) await askAbout(db, jobId, { fingerprint, ...asked });
    return jobIds;
  };

  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  test("one decision answers 1,000 requests for the same, and their jobs are due", async () => {
    const fingerprint = newFingerprint();
    const { jobIds } = await investigationsOf(db, "thousand", 1_000);
    const [first = "", ...others] = jobIds;
    await askAbout(db, first, { fingerprint });
    await waitLike(db, first, others);
    const id = await approvalOf(first);
    const began = performance.now();
    const decided = await decideApproval(db, id, ONCE);
    const tookMs = performance.now() - began;
    expect(decided).toMatchObject({ kind: "decided", answered: 1_000, woken: 1_000 });
    expect(
      await countOf(db, "nightdesk_data.jobs where job_id = any($1) and state = 'queued'", [
        jobIds,
      ]),
    ).toBe(1_000);
    expect(tookMs).toBeLessThan(5_000);
    process.stdout.write(`1,000 requests answered in ${Math.round(tookMs)} ms on ${name}\n`);
  }, 30_000);

  test("of two who answer different requests for the same at once, one wins", async () => {
    const other = await topology.connect();
    try {
      for (let round = 0; round < 10; round += 1) {
        const jobIds = await waiting(4, newFingerprint());
        const [first = "", second = ""] = await Promise.all(
          [jobIds[0] ?? "", jobIds[3] ?? ""].map(approvalOf),
        );
        const answers = await Promise.all([
          decideApproval(db, first, ONCE),
          decideApproval(other, second, {
            ...ONCE,
            verdict: "deny",
            reason: "No.",
            decidedBy: "Bo",
          }),
        ]);
        expect(answers.map(({ kind }) => kind).sort()).toEqual(["decided", "late"]);
        const won = answers[0].kind === "decided" ? "Ada" : "Bo";
        expect(answers).toContainEqual(expect.objectContaining({ kind: "late", decidedBy: won }));
        expect(answers).toContainEqual(expect.objectContaining({ answered: 4, woken: 4 }));
      }
    } finally {
      await other.end();
    }
  });

  test("a rule answers until it expires", async () => {
    const fingerprint = newFingerprint();
    const [first = ""] = await waiting(1, fingerprint);
    const decided = await decideApproval(db, await approvalOf(first), RULE);
    const { jobIds } = await investigationsOf(db, `batch-${(calls += 1)}`, 2);
    const [during = "", after = ""] = jobIds;
    expect(await askAbout(db, during, { fingerprint })).toMatchObject({ verdict: "approve" });
    const id = decided.kind === "decided" ? decided.decisionId : "";
    expect(await hitsOf(id)).toBe(2);
    await db.query(
      "update nightdesk_data.decisions set expires_at = clock_timestamp() where decision_id = $1",
      [id],
    );
    expect(await askAbout(db, after, { fingerprint })).toBe("waiting");
    expect(await hitsOf(id)).toBe(2);
  });

  const hitsOf = async (id: string): Promise<number> => {
    const { rows } = await db.query(
      "select hits from nightdesk_data.decisions where decision_id = $1",
      [id],
    );
    return (rows[0] as { hits: number }).hits;
  };

  test("a denial counts more than an approval that came after it", async () => {
    const fingerprint = newFingerprint();
    const { jobIds } = await investigationsOf(db, `batch-${(calls += 1)}`, 2);
    const [first = "", second = ""] = jobIds;
    await askAbout(db, first, { fingerprint });
    const [elsewhere = ""] = await waiting(1, fingerprint);
    const deny = { ...ONCE, verdict: "deny", scope: "batch", reason: "Not here." } as const;
    await decideApproval(db, await approvalOf(first), deny);
    await decideApproval(db, await approvalOf(elsewhere), RULE);
    expect(await askAbout(db, second, { fingerprint })).toMatchObject({
      verdict: "deny",
      reason: "Not here.",
    });
  });

  test("a request whose time is over is answered no more, also while nobody has ended it", async () => {
    const fingerprint = newFingerprint();
    const { jobIds } = await investigationsOf(db, `batch-${(calls += 1)}`, 1);
    const [jobId = ""] = jobIds;
    await askAbout(db, jobId, { fingerprint, expiresInSeconds: 0 });
    expect(await decideApproval(db, await approvalOf(jobId), ONCE)).toMatchObject({
      kind: "late",
      state: "expired",
    });
    const made = "nightdesk_data.decisions where fingerprint = $1";
    expect(await countOf(db, made, [fingerprint])).toBe(0);
    expect(await reconcileApprovals(db)).toMatchObject({ expired: 1, woken: 1 });
  });

  test("a rule that was revoked answers no more, and one that answered once is none", async () => {
    const fingerprint = newFingerprint();
    const [first = ""] = await waiting(1, fingerprint);
    const rule = await decideApproval(db, await approvalOf(first), RULE);
    const id = rule.kind === "decided" ? rule.decisionId : "";
    expect(await revokeDecision(db, id)).toBe("revoked");
    expect(await revokeDecision(db, id)).toBe("late");
    const [second = ""] = await waiting(1, fingerprint);
    expect(await rowOf(db, second)).toMatchObject({ waiting_for: "approval" });
    const once = await decideApproval(db, await approvalOf(second), ONCE);
    expect(await revokeDecision(db, once.kind === "decided" ? once.decisionId : "")).toBe("once");
    expect(await revokeDecision(db, "00000000-0000-0000-0000-000000000000")).toBe("unknown");
  });

  test("a rule for commands holds until it expires or is revoked", async () => {
    const rule = { binary: "git", words: ["log"], folder: "/work" };
    const { batchId, jobIds } = await investigationsOf(db, `batch-${(calls += 1)}`, 1);
    const [jobId = ""] = jobIds;
    const added = [];
    for (const verdict of ["approve", "deny", "approve"] as const) {
      const given = { rule, reason: "known", decidedBy: "Ada", expiresInSeconds: 3_600 };
      added.push((await insertCommandRule(db, { ...given, verdict })).decisionId);
    }
    const [expired = "", denied = "", revoked = ""] = added;
    const holding = async (id = jobId) =>
      (await selectCommandRules(db, id)).map(({ decisionId }) => decisionId);
    expect(await holding()).toEqual([denied, revoked, expired]);
    await revokeDecision(db, revoked);
    await db.query(
      "update nightdesk_data.decisions set expires_at = clock_timestamp() where decision_id = $1",
      [expired],
    );
    expect(await holding()).toEqual([denied]);
    await revokeDecision(db, denied);
    const within = { scope: "batch", id: batchId } as const;
    const given = { rule, reason: null, decidedBy: "Ada", expiresInSeconds: null } as const;
    const ofBatch = await insertCommandRule(db, { ...given, verdict: "approve", within });
    const ofJob = { scope: "job", id: jobId } as const;
    const own = await insertCommandRule(db, { ...given, verdict: "approve", within: ofJob });
    expect(await holding()).toEqual([own.decisionId, ofBatch.decisionId]);
    const other = await investigationsOf(db, `batch-${(calls += 1)}`, 1);
    expect(await holding(other.jobIds[0])).toEqual([]);
  });

  test("a rule for commands makes due what waits for its program, in its batch alone", async () => {
    const asked = { args: { command: "cat a | wc -l" } };
    const [first = ""] = await waiting(1, newFingerprint(), asked);
    const [second = ""] = await waiting(1, newFingerprint(), asked);
    const { rows } = await db.query("select batch_id from nightdesk_data.jobs where job_id = $1", [
      first,
    ]);
    const id = String((rows[0] as { batch_id: unknown }).batch_id);
    const given = { verdict: "approve", reason: null, decidedBy: "Ada" } as const;
    const rule = (binary: string) => ({ binary, words: [], folder: "/" });
    const other = { ...given, rule: rule("tail"), expiresInSeconds: 60 };
    expect(await insertCommandRule(db, other)).toMatchObject({ woken: 0 });
    const within = { scope: "batch", id } as const;
    const ofBatch = { ...given, rule: rule("wc"), expiresInSeconds: null, within };
    expect(await insertCommandRule(db, ofBatch)).toMatchObject({ woken: 1 });
    expect(await rowOf(db, first)).toMatchObject({ state: "queued", waiting_for: null });
    expect(await rowOf(db, second)).toMatchObject({ state: "parked", waiting_for: "approval" });
  });

  test("of two who resolve a step at once one is told that the other did, and the job goes on", async () => {
    const { jobIds } = await investigationsOf(db, `batch-${(calls += 1)}`, 1);
    const { jobId } = await leaveUncertain(db, jobIds[0] ?? "");
    await expect(claimNext(db, jobId)).rejects.toThrow("could not be claimed");
    const said = await Promise.all([
      resolveStep(db, jobId, 0, { state: "done", decidedBy: "Ada" }),
      resolveStep(db, jobId, 0, { state: "skipped", decidedBy: "Bo" }),
    ]);
    const won = said[0].kind === "resolved" ? "Ada" : "Bo";
    expect(said).toContainEqual({ kind: "resolved" });
    expect(said).toContainEqual({
      kind: "late",
      state: won === "Ada" ? "done" : "skipped",
      by: won,
    });
    await claimNext(db, jobId);
    expect(await selectSteps(db, jobId)).toMatchObject([
      { state: won === "Ada" ? "done" : "skipped", detail: { resolved_by: won } },
    ]);
  });

  test("a step that was resolved while its run still parked wakes the job", async () => {
    const { jobIds } = await investigationsOf(db, `batch-${(calls += 1)}`, 1);
    const run = await beginInvestigation(db, jobIds[0] ?? "");
    await beginCall(db, run, GIT_LOG);
    await settleOpenStep(db, run, 0, "uncertain");
    await resolveStep(db, run.jobId, 0, { state: "skipped", decidedBy: "Ada" });
    await park(db, run, "review");
    expect(await reconcileApprovals(db)).toMatchObject({ woken: 1 });
    await claimNext(db, run.jobId);
  });

  test("an answer that waits for a person is not worked again until somebody has decided", async () => {
    const { jobIds } = await investigationsOf(db, `batch-${(calls += 1)}`, 1);
    const run = await beginInvestigation(db, jobIds[0] ?? "");
    const wanted = { draftSha256: "a".repeat(64), draft: "42 minutes.", why: "two sources differ" };
    await requestReview(db, run, wanted);
    await park(db, run, "review");
    expect(await reconcileApprovals(db)).toMatchObject({ woken: 0 });
    expect(await rowOf(db, run.jobId)).toMatchObject({ state: "parked", waiting_for: "review" });
    const accepted = { state: "accepted", correction: null, facts: [], reason: null } as const;
    expect(await decideReview(db, run.jobId, { ...accepted, decidedBy: "Ada" })).toEqual({
      kind: "decided",
    });
    await claimNext(db, run.jobId);
  });

  describe("a batch holds itself", () => {
    /** Asks for so many of a batch's jobs. */
    const batchWith = async (jobs: number, fingerprint: string) => {
      const { batchId, jobIds } = await investigationsOf(db, `batch-${(calls += 1)}`, jobs);
      let asked = 0;
      return {
        batchId,
        jobIds,
        ask: async (more: number) => {
          const fresh = jobIds.slice(asked, asked + more);
          for (const jobId of fresh) await askAbout(db, jobId, { fingerprint });
          asked += more;
        },
        hold: async () => {
          await evaluateHolds(db);
          const { rows } = await db.query(
            "select hold_reason from nightdesk_data.batches where batch_id = $1",
            [batchId],
          );
          return (rows[0] as { hold_reason: string | null }).hold_reason;
        },
      };
    };

    test("when more than a quarter of it waits, and goes on below that", async () => {
      const fingerprint = newFingerprint();
      const { batchId, jobIds, ask, hold } = await batchWith(81, fingerprint);
      await ask(20);
      expect(await hold()).toBeNull();
      await ask(1);
      expect(await hold()).toBe("approvals");
      await expect(claimNext(db, jobIds[80] ?? "")).rejects.toThrow("could not be claimed");
      await decideApproval(db, await approvalOf(jobIds[0] ?? ""), { ...ONCE, scope: "job" });
      expect(await hold()).toBeNull();
      await claimNext(db, jobIds[80] ?? "");
      expect(await selectHolds(db, batchId)).toMatchObject([{ reason: "approvals", times: 1 }]);
    });

    test("when 20 jobs wait at least, whatever their share", async () => {
      const { ask, hold } = await batchWith(21, newFingerprint());
      await ask(19);
      expect(await hold()).toBeNull();
      await ask(1);
      expect(await hold()).toBe("approvals");
    });

    test("and stays paused where a person paused it, whatever waits or is answered", async () => {
      const { batchId, jobIds, ask, hold } = await batchWith(20, newFingerprint());
      await ask(20);
      await pauseBatch(db, batchId);
      expect(await hold()).toBe("paused");
      await resumeBatch(db, batchId);
      expect(await hold()).toBe("approvals");
      await pauseBatch(db, batchId);
      await decideApproval(db, await approvalOf(jobIds[0] ?? ""), ONCE);
      expect(await hold()).toBe("paused");
      await resumeBatch(db, batchId);
      expect(await hold()).toBeNull();
    });
  });
});
