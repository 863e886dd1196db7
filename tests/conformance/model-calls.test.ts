import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { insertModelCall, selectModelCalls } from "../../src/shared/store/jobs/model-calls.ts";
import type { ModelCallRow } from "../../src/shared/store/jobs/model-calls.ts";
import { selectBatchBudget } from "../../src/shared/store/hosts/budgets.ts";
import { takeCall } from "../../src/shared/store/hosts/calls.ts";
import { enterHost } from "../../src/shared/store/hosts/hosts.ts";
import type { ClaimedJob } from "../../src/shared/store/jobs/claim-job.ts";
import { selectRunDetails } from "../../src/shared/views/runs.ts";
import { selectReasoning } from "../../src/shared/views/reasoning.ts";
import { deleteExpiredReasoning } from "../../src/shared/store/jobs/retention.ts";
import { settleRun } from "../../src/shared/store/jobs/settle-run.ts";
import { takeBackLostJobs } from "../../src/shared/store/jobs/dispatch.ts";
import type { ReplyRecord } from "../../src/shared/job/run-result.ts";
import { openCallLog } from "../../src/worker/jobs/call-log.ts";
import type { Reuse } from "../../src/worker/jobs/call-log.ts";
import {
  answered,
  askJob,
  claimNext,
  countOf,
  EMPTY_RECORD,
  expireLease,
  MADE_WITH,
  openBatchOf,
} from "./jobs.ts";
import { databases, startTopology } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

const reply = {
  text: "Because [1].",
  toolCalls: [{ name: "read_text_file", args: { path: "a.md" } }],
  doneReason: "stop",
  promptTokens: 7,
  completionTokens: 3,
  loadMs: 0.5,
} as const;
const CALL: ModelCallRow = {
  pass: "second",
  requestSha256: "a".repeat(64),
  model: "m",
  modelDigest: "d".repeat(64),
  prompt: {
    template: "answer/2",
    sha256: "b".repeat(64),
    values: { question: "Why?" },
    evidence: [
      {
        number: 1,
        path: "a.md",
        sha256: "c".repeat(64),
        startChar: 0,
        endChar: 9,
        chunkKey: null,
        summaryLevel: 0,
      },
    ],
    violations: ["TOOL_CALL"],
  },
  reply,
  refusal: null,
  durationMs: 1.25,
};
const REFUSED: ModelCallRow = {
  ...CALL,
  requestSha256: "e".repeat(64),
  reply: null,
  refusal: { code: "CONTEXT_OVERFLOW", message: "Too long." },
};

const usedReply = (origin: ReplyRecord["origin"]): ReplyRecord => ({
  pass: "second",
  model: "m",
  text: "Because [1].",
  requestSha256: CALL.requestSha256,
  prompt: CALL.prompt,
  origin,
  kept: "as_returned",
  promptTokens: 7,
  completionTokens: 3,
  durationMs: 1.25,
});

type Facts = Parameters<ReturnType<typeof openCallLog>["recall"]>[1];
const WITH_DIGEST: Facts = { isFree: false, digest: "d".repeat(64) };
const WITHOUT_DIGEST: Facts = { isFree: false, digest: null };
const EXTRACTIVE: Facts = { isFree: true, digest: null };

const HOST = "http://calls:11434";
const UNLIMITED = { tokens: null, calls: null, seconds: null };

describe.each(databases)("model calls on %s", (name) => {
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

  const newJob = async (): Promise<string> => {
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    return jobIds[0] ?? "";
  };

  const callsOf = (reuse: Reuse) => ({ reuse, keepReasoningDays: 3 });

  const repliesOf = async (jobId: string) =>
    (await selectModelCalls(db, jobId)).map((call) => call.reply?.text);

  test("come back as they were kept, first to last", async () => {
    const job = await claimNext(db, await newJob());
    await insertModelCall(db, job, CALL);
    await insertModelCall(db, job, REFUSED);
    // What only a reader of the view asks for is left out.
    const kept = (call: ModelCallRow) => ({
      ...call,
      modelDigest: undefined,
      cachedFrom: null,
    });
    expect(await selectModelCalls(db, job.jobId)).toEqual([kept(CALL), kept(REFUSED)]);
  });

  describe("with reasoning", () => {
    const THOUGHT = { text: "hm", chars: 2 };
    const commit = (job: ClaimedJob, keepReasoningDays: number | null) =>
      openCallLog(db, job, { reuse: "never", keepReasoningDays }).commit({
        ...CALL,
        reply: { kind: "reply", ...reply, reasoning: THOUGHT },
      });

    test.each([
      [3, 1],
      [null, 1],
      [0, 0],
    ])("keep it apart for %s days", async (days, kept) => {
      const job = await claimNext(db, await newJob());
      await commit(job, days);
      await commit(job, days);
      const rows = await selectReasoning(db, job.jobId);
      expect(rows).toHaveLength(kept);
      for (const row of rows) {
        expect(row).toMatchObject({ run_id: job.runId, reasoning: "hm", chars: 2, pass: "second" });
        expect(row.expires_at === null).toBe(days === null);
      }
      expect(await selectReasoning(db, job.runId)).toEqual(rows);
      // A replay takes the call as it is, and the record of a run has nothing of it.
      expect(await selectModelCalls(db, job.jobId)).toMatchObject([{ reply }]);
      expect(JSON.stringify(await selectRunDetails(db, job.jobId))).not.toContain("hm");
    });

    test("lose it when another run asks again and is told none", async () => {
      const first = await claimNext(db, await newJob());
      await commit(first, 3);
      await expireLease(db, first.jobId);
      await takeBackLostJobs(db);
      const second = await claimNext(db, first.jobId);
      await insertModelCall(db, second, CALL);
      expect(await selectReasoning(db, first.jobId)).toEqual([]);
    });

    test("lose it when its time is over", async () => {
      const [old, young] = [
        await claimNext(db, await newJob()),
        await claimNext(db, await newJob()),
      ];
      await commit(old, 3);
      await commit(young, 3);
      await db.query(
        "update nightdesk_data.call_reasoning set expires_at = now() where run_id = $1",
        [old.runId],
      );
      expect(await deleteExpiredReasoning(db, 5)).toBe(1);
      expect(await deleteExpiredReasoning(db, 5)).toBe(0);
      expect(await selectReasoning(db, old.jobId)).toEqual([]);
      expect(await selectReasoning(db, young.jobId)).toHaveLength(1);
    });
  });

  test("of a run that lost its job are dropped", async () => {
    const first = await claimNext(db, await newJob());
    await expireLease(db, first.jobId);
    await takeBackLostJobs(db);
    // Nobody has claimed it yet: what comes late is still of use to who does.
    await insertModelCall(db, first, CALL);
    const second = await claimNext(db, first.jobId);
    await insertModelCall(db, first, REFUSED);
    expect((await selectModelCalls(db, first.jobId)).map(({ pass }) => pass)).toEqual(["second"]);
    expect(second.hasCalls).toBe(true);
  });

  test("of the same request are those of the run that has the job", async () => {
    const first = await claimNext(db, await newJob());
    await insertModelCall(db, first, CALL);
    await insertModelCall(db, first, { ...CALL, reply: { ...reply, text: "Again." } });
    expect(await repliesOf(first.jobId)).toEqual([reply.text]);
    await expireLease(db, first.jobId);
    await takeBackLostJobs(db);
    const second = await claimNext(db, first.jobId);
    await insertModelCall(db, second, { ...CALL, reply: { ...reply, text: "By the second." } });
    expect(await repliesOf(first.jobId)).toEqual(["By the second."]);
  });

  test("of a run whose worker died stay what that run cost", async () => {
    const first = await claimNext(db, await newJob());
    await insertModelCall(db, first, CALL);
    await expireLease(db, first.jobId);
    await takeBackLostJobs(db);
    const { rows } = await db.query(
      `select state, model_second, prompt_tokens, completion_tokens, model_ms
         from nightdesk_data.runs where run_id = $1`,
      [first.runId],
    );
    expect(rows).toEqual([
      {
        state: "lost",
        model_second: CALL.model,
        prompt_tokens: reply.promptTokens,
        completion_tokens: reply.completionTokens,
        model_ms: CALL.durationMs,
      },
    ]);
  });

  test("of a job that was deleted are dropped, and go with it", async () => {
    const job = await claimNext(db, await newJob());
    await insertModelCall(db, job, CALL);
    await db.query("delete from nightdesk_data.batches where batch_id = $1", [job.batchId]);
    await insertModelCall(db, job, REFUSED);
    expect(await countOf(db, "nightdesk_data.model_calls where job_id = $1", [job.jobId])).toBe(0);
  });

  describe("with the slot of their host", () => {
    const takeSlot = async (job: ClaimedJob) => {
      await enterHost(db, { host: HOST, provider: "ollama", parallel: 1 });
      const ticket = randomUUID();
      const cost = {
        tokens: 50,
        night: { date: "2026-01-02", endsAt: new Date("2026-01-03T11:00:00Z") },
        perBatch: UNLIMITED,
        perNight: UNLIMITED,
      };
      const { outcome } = await takeCall(db, { ticket, runId: job.runId, host: HOST }, cost);
      expect(outcome).toBe("taken");
      return { ticket, answer: "answered", calls: 1, tokens: 10, seconds: 1.25 } as const;
    };
    const leftOf = async (job: ClaimedJob) => ({
      slots: await countOf(db, "nightdesk_data.host_slots where run_id = $1", [job.runId]),
      reservations: await countOf(db, "nightdesk_data.reservations where run_id = $1", [job.runId]),
      used: (await selectBatchBudget(db, job.batchId))?.used,
    });
    const ENDED = {
      slots: 0,
      reservations: 0,
      used: { tokens: 10, calls: 1, seconds: 1.25, money: 0 },
    };

    test("end it in the transaction that keeps them, once however often it is asked", async () => {
      const job = await claimNext(db, await newJob());
      const charge = await takeSlot(job);
      const log = openCallLog(db, job, callsOf("never"));
      const call = { ...CALL, reply: { kind: "reply", ...reply } } as const;
      await log.commit(call, charge);
      await log.commit(call, charge);
      expect(await leftOf(job)).toEqual(ENDED);
      expect(await repliesOf(job.jobId)).toEqual([reply.text]);
    });

    test("are charged once, also where a crash took back what was reserved", async () => {
      const job = await claimNext(db, await newJob());
      const charge = await takeSlot(job);
      // What a server that is killed forgets of a call that began a moment before.
      await db.query("delete from nightdesk_data.reservations where run_id = $1", [job.runId]);
      await db.query("delete from nightdesk_data.batch_budgets where batch_id = $1", [job.batchId]);
      await db.query(
        `update nightdesk_data.host_slots set ticket = null, run_id = null, taken_at = null, in_use = null
          where run_id = $1`,
        [job.runId],
      );
      const log = openCallLog(db, job, callsOf("never"));
      const call = { ...CALL, reply: { kind: "reply", ...reply } } as const;
      await log.commit(call, charge);
      await log.commit(call, charge);
      expect(await leftOf(job)).toEqual(ENDED);
    });

    test("end it with the reasoning that they came with", async () => {
      const job = await claimNext(db, await newJob());
      const charge = await takeSlot(job);
      const reasoning = { text: "hm", chars: 2 };
      const call = { ...CALL, reply: { kind: "reply", ...reply, reasoning } } as const;
      await openCallLog(db, job, callsOf("never")).commit(call, charge);
      expect(await leftOf(job)).toEqual(ENDED);
      expect(await selectReasoning(db, job.jobId)).toHaveLength(1);
    });

    test("end it where they can't be stored", async () => {
      const job = await claimNext(db, await newJob());
      const charge = await takeSlot(job);
      const call = { ...CALL, reply: { kind: "reply", ...reply, text: "\u0000" } } as const;
      await expect(
        openCallLog(db, job, callsOf("never")).commit(call, charge),
      ).rejects.toMatchObject({
        code: "RESULT_UNSTORABLE",
      });
      expect(await leftOf(job)).toEqual(ENDED);
    });

    test("end it, and are dropped, when the job was lost", async () => {
      const job = await claimNext(db, await newJob());
      const charge = await takeSlot(job);
      await expireLease(db, job.jobId);
      await takeBackLostJobs(db);
      await claimNext(db, job.jobId);
      const call = { ...CALL, reply: { kind: "reply", ...reply } } as const;
      await openCallLog(db, job, callsOf("never")).commit(call, charge);
      expect(await leftOf(job)).toEqual(ENDED);
      expect(await repliesOf(job.jobId)).toEqual([]);
    });
  });

  test("are recalled by a later attempt of the same job", async () => {
    const first = await claimNext(db, await newJob());
    expect(first.hasCalls).toBe(false);
    await openCallLog(db, first, callsOf("never")).commit({
      ...CALL,
      reply: { kind: "reply", ...reply },
    });
    await expireLease(db, first.jobId);
    await takeBackLostJobs(db);

    const second = await claimNext(db, first.jobId);
    expect(second.hasCalls).toBe(true);
    const log = openCallLog(db, second, callsOf("never"));
    expect(await log.recall(CALL.requestSha256, WITHOUT_DIGEST)).toEqual({
      reply: { kind: "reply", ...CALL.reply },
      durationMs: CALL.durationMs,
    });
    expect(await log.recall("f".repeat(64), WITH_DIGEST)).toBeUndefined();
    expect(await log.recall(CALL.requestSha256, EXTRACTIVE)).toBeUndefined();
  });

  describe("of another job", () => {
    const made = async (call: ModelCallRow): Promise<string> => {
      const job = await claimNext(db, await newJob());
      await insertModelCall(db, job, call);
      return job.runId;
    };
    const call = (letter: string, overrides: Partial<ModelCallRow> = {}): ModelCallRow => ({
      ...CALL,
      requestSha256: letter.repeat(64),
      ...overrides,
    });

    test("are taken over with the run that made them, the newest first", async () => {
      await made(call("1"));
      const newest = await made(call("1", { reply: { ...reply, text: "Newer." } }));
      const job = await claimNext(db, await newJob());
      const taken = await openCallLog(db, job, callsOf("by_digest")).recall(
        "1".repeat(64),
        WITH_DIGEST,
      );
      expect(taken).toEqual({
        reply: { kind: "reply", ...reply, text: "Newer." },
        durationMs: CALL.durationMs,
        cachedFrom: newest,
      });
    });

    test("stay with the job that took them over when the other is deleted", async () => {
      const maker = await claimNext(db, await newJob());
      await insertModelCall(db, maker, call("2"));
      const first = await claimNext(db, await newJob());
      await openCallLog(db, first, callsOf("by_digest")).recall("2".repeat(64), WITH_DIGEST);
      await db.query("delete from nightdesk_data.batches where batch_id = $1", [maker.batchId]);
      expect(await selectModelCalls(db, first.jobId)).toEqual([
        expect.objectContaining({ requestSha256: "2".repeat(64), cachedFrom: maker.runId }),
      ]);
      // A copy of the copy still names the run that asked, and so does a later attempt.
      const second = await claimNext(db, await newJob());
      const taken = await openCallLog(db, second, callsOf("by_digest")).recall(
        "2".repeat(64),
        WITH_DIGEST,
      );
      expect(taken?.cachedFrom).toBe(maker.runId);
      await expireLease(db, second.jobId);
      await takeBackLostJobs(db);
      const again = await claimNext(db, second.jobId);
      const recalled = await openCallLog(db, again, callsOf("never")).recall(
        "2".repeat(64),
        WITH_DIGEST,
      );
      expect(recalled?.cachedFrom).toBe(maker.runId);
    });

    test("are taken over as the configuration says, and only where they are replies", async () => {
      await made(call("3"));
      await made(call("4", { reply: null, refusal: REFUSED.refusal }));
      await made(call("5", { model: "extractive", modelDigest: null }));
      const job = await claimNext(db, await newJob());
      const recall = async (reuse: Reuse, letter: string, facts: Facts) =>
        (await openCallLog(db, job, callsOf(reuse)).recall(letter.repeat(64), facts)) !== undefined;
      expect(await recall("never", "3", WITH_DIGEST)).toBe(false);
      expect(await recall("by_digest", "3", WITHOUT_DIGEST)).toBe(false);
      expect(await recall("always", "3", EXTRACTIVE)).toBe(false);
      expect(await recall("always", "4", WITH_DIGEST)).toBe(false);
      expect(await recall("always", "5", WITH_DIGEST)).toBe(false);
      expect(await recall("always", "3", WITHOUT_DIGEST)).toBe(true);
    });

    test("make a run that says where its result comes from, when it took over all of them", async () => {
      const maker = await made(CALL);
      const settled = async (replies: readonly ReplyRecord[]) => {
        const job = await claimNext(db, await newJob());
        await openCallLog(db, job, callsOf("by_digest")).recall(CALL.requestSha256, WITH_DIGEST);
        await settleRun(
          db,
          { runId: job.runId, runMs: 1, ...MADE_WITH },
          { kind: "succeeded", outcome: answered("yes") },
          { ...EMPTY_RECORD, replies },
        );
        return (await selectRunDetails(db, job.jobId))[0];
      };
      const cached = { ...usedReply("cached"), cachedFrom: maker };
      const all = await settled([cached]);
      expect(all).toMatchObject({ cached_from: maker });
      expect(all?.calls).toEqual([
        expect.objectContaining({ origin: "cached", cached_from: maker, run_id: all?.run_id }),
      ]);
      expect(await settled([cached, usedReply("asked")])).toMatchObject({ cached_from: null });
      expect(await settled([])).toMatchObject({ cached_from: null });
    });

    test("are not copied by a run that has lost its job", async () => {
      await made(call("6"));
      const lost = await claimNext(db, await newJob());
      await expireLease(db, lost.jobId);
      await takeBackLostJobs(db);
      await claimNext(db, lost.jobId);
      await openCallLog(db, lost, callsOf("by_digest")).recall("6".repeat(64), WITH_DIGEST);
      expect(await selectModelCalls(db, lost.jobId)).toEqual([]);
    });
  });

  test("show with the run that lost them, and as reused with the run that took them over", async () => {
    const first = await claimNext(db, await newJob());
    await insertModelCall(db, first, CALL);
    await expireLease(db, first.jobId);
    await takeBackLostJobs(db);
    const second = await claimNext(db, first.jobId);
    await insertModelCall(db, second, REFUSED);
    await settleRun(
      db,
      { runId: second.runId, runMs: 1, ...MADE_WITH },
      { kind: "succeeded", outcome: answered("yes") },
      { ...EMPTY_RECORD, replies: [usedReply("reused")] },
    );
    const [lost, ended] = await selectRunDetails(db, first.jobId);
    const shown = (run: typeof lost) =>
      run?.calls.map(({ run_id: by, origin, error_code: code }) => ({ by, origin, code }));
    expect(lost?.state).toBe("lost");
    expect(shown(lost)).toEqual([{ by: first.runId, origin: "asked", code: null }]);
    expect(shown(ended)).toEqual([
      { by: first.runId, origin: "reused", code: null },
      // It gave no reply, so that the run does not name it; it made it all the same.
      { by: second.runId, origin: "asked", code: "CONTEXT_OVERFLOW" },
    ]);
    expect(ended?.calls[0]).toMatchObject({
      prompt_template: "answer/2",
      prompt: { values: CALL.prompt.values, evidence: CALL.prompt.evidence },
      tool_calls: CALL.reply?.toolCalls,
      reply: CALL.reply?.text,
    });
  });

  test("keep what a model wrote whatever it is", async () => {
    const job = await claimNext(db, await newJob());
    const text = `"\\u0000" ${String.fromCodePoint(0x1f68b)} \u202e \x1b[2J </script> '; drop table x; --`;
    await insertModelCall(db, job, {
      ...CALL,
      reply: { ...reply, text },
    });
    const [call] = await selectModelCalls(db, job.jobId);
    expect(call?.reply?.text).toBe(text);
  });
});
