import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/db/database.ts";
import { insertModelCall, selectModelCalls } from "../../src/shared/db/jobs/model-calls.ts";
import type { ModelCallRow } from "../../src/shared/db/jobs/model-calls.ts";
import { selectRunDetails } from "../../src/shared/db/jobs/read-runs.ts";
import { settleRun } from "../../src/shared/db/jobs/settle-run.ts";
import { takeBackLostJobs } from "../../src/shared/db/jobs/dispatch.ts";
import type { ReplyRecord } from "../../src/shared/run-result.ts";
import { openCallLog } from "../../src/worker/runtime/call-log.ts";
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
import { startTopology, topologies } from "./topologies.ts";
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

describe.each(topologies)("model calls on %s", (name) => {
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

  const repliesOf = async (jobId: string) =>
    (await selectModelCalls(db, jobId)).map((call) => call.reply?.text);

  test("come back as they were kept, first to last", async () => {
    const job = await claimNext(db, await newJob());
    await insertModelCall(db, job, CALL);
    await insertModelCall(db, job, REFUSED);
    // What only a reader of the view asks for is left out.
    const kept = (call: ModelCallRow) => ({ ...call, model: undefined, modelDigest: undefined });
    expect(await selectModelCalls(db, job.jobId)).toEqual([kept(CALL), kept(REFUSED)]);
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

  test("of a job that was deleted are dropped, and go with it", async () => {
    const job = await claimNext(db, await newJob());
    await insertModelCall(db, job, CALL);
    await db.query("delete from nightdesk_data.batches where batch_id = $1", [job.batchId]);
    await insertModelCall(db, job, REFUSED);
    expect(await countOf(db, "nightdesk_data.model_calls where job_id = $1", [job.jobId])).toBe(0);
  });

  test("are recalled by a later attempt of the same job, and by no other job", async () => {
    const first = await claimNext(db, await newJob());
    expect(first.hasCalls).toBe(false);
    await openCallLog(db, first).commit({
      ...CALL,
      reply: { kind: "reply", ...reply },
    });
    await expireLease(db, first.jobId);
    await takeBackLostJobs(db);

    const second = await claimNext(db, first.jobId);
    expect(second.hasCalls).toBe(true);
    const log = openCallLog(db, second);
    expect(await log.recall(CALL.requestSha256)).toEqual({
      reply: { kind: "reply", ...CALL.reply },
      durationMs: CALL.durationMs,
    });
    expect(await log.recall("f".repeat(64))).toBeUndefined();

    const other = await claimNext(db, await newJob());
    expect(await openCallLog(db, other).recall(CALL.requestSha256)).toBeUndefined();
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
