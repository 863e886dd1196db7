import { randomUUID } from "node:crypto";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { insertModelCall } from "../../src/shared/store/jobs/model-calls.ts";
import { settleRun } from "../../src/shared/store/jobs/settle-run.ts";
import type { RunRecord } from "../../src/shared/store/jobs/run-tables.ts";
import type {
  ClaimRecord,
  EvidenceSpan,
  PartRecord,
  ReplyRecord,
} from "../../src/shared/job/run-result.ts";
import type { Settlement } from "../../src/shared/job/settlement.ts";
import { askJob, claimNext, MADE_WITH, openBatchOf } from "../conformance/jobs.ts";
import { RECORD } from "./work-by-hand.ts";

export type HandRun = { readonly jobId: string; readonly runId: string; readonly batchId: string };

/** A run with calls of a model, settled by SQL as a worker would. */
export async function runByHand(
  db: Database,
  settlement: Settlement,
  record: RunRecord,
): Promise<HandRun> {
  const { batchId, jobIds } = await openBatchOf(db, [askJob(randomUUID())]);
  const job = await claimNext(db, jobIds[0] ?? "");
  for (const reply of record.replies) await insertModelCall(db, job, callOf(reply));
  await settleRun(db, { runId: job.runId, runMs: 12, ...MADE_WITH }, settlement, record);
  return { jobId: job.jobId, runId: job.runId, batchId };
}

const callOf = (reply: ReplyRecord) => ({
  pass: reply.pass,
  requestSha256: reply.requestSha256,
  model: reply.model,
  modelDigest: null,
  prompt: reply.prompt,
  reply: {
    text: reply.text,
    toolCalls: [],
    doneReason: "stop" as const,
    promptTokens: reply.promptTokens,
    completionTokens: reply.completionTokens,
    loadMs: 0,
  },
  refusal: null,
  durationMs: reply.durationMs,
});

export const FIRST_EVIDENCE = RECORD.evidence[0] ?? never();

const span = (number: number, lineStart: number): EvidenceSpan => ({
  number,
  path: FIRST_EVIDENCE.path,
  startChar: 0,
  endChar: 5,
  lineStart,
  lineEnd: lineStart,
});

export const replyBy = (
  request: string,
  text: string,
  pass: ReplyRecord["pass"] = "second",
): ReplyRecord => ({
  pass,
  model: "writer",
  text,
  requestSha256: request.padStart(64, "0"),
  prompt: {
    template: "answer/2",
    sha256: request.padStart(64, "1"),
    values: { question: "What?", footer: "Scope: test", notes: "" },
    evidence: [
      {
        number: 1,
        path: FIRST_EVIDENCE.path,
        sha256: FIRST_EVIDENCE.sha256,
        startChar: 0,
        endChar: 10,
        chunkKey: null,
        summaryLevel: null,
      },
    ],
    violations: [],
  },
  origin: "asked",
  kept: "as_returned",
  promptTokens: 7,
  completionTokens: 3,
  durationMs: 1,
});

const claimBy = (more: Partial<ClaimRecord>): ClaimRecord => ({
  draft: 0,
  text: "",
  cites: [1],
  quote: null,
  grade: "supported",
  reason: "verbatim",
  fate: "kept",
  stands: true,
  arithmetic: null,
  span: span(1, 2),
  otherSpans: [],
  carrier: null,
  checks: [],
  ...more,
});

/** A record with something in every section. */
export const CHECKED_RECORD: RunRecord = {
  ...RECORD,
  models: [
    {
      pass: "second",
      model: "writer",
      why: 'trigger "compare"',
      facts: {
        provider: "ollama",
        is_free: false,
        reads_prompts: true,
        digest: "9".repeat(64),
        quantization: "Q4_K_M",
        server_version: "0.12.3",
        window_tokens: 8192,
        tool_protocol: "native",
        options: { temperature: 0, seed: 42 },
      },
    },
  ],
  replies: [replyBy("a", "It holds ten [1].")],
  checks: {
    quotes: [
      { quote: "holds exactly ten", class: "verbatim", span: span(1, 2) },
      { quote: "never was there", class: "not_found", span: null },
    ],
    figures: [
      { kind: "number", text: "10", standsIn: "evidence", flagged: false, span: span(1, 2) },
      { kind: "number", text: "17", standsIn: "neither", flagged: true, span: null },
    ],
  },
  claims: [
    claimBy({ text: "It holds ten.", carrier: "It holds exactly ten." }),
    claimBy({
      text: "It is always blue.",
      grade: "unconfirmed",
      reason: "judge",
      fate: "marked",
      carrier: "It is blue.",
      checks: [{ rule: "judge", verdict: "fail", detail: "m: its lines do not say it (scope)" }],
    }),
    claimBy({
      text: "It costs 17.",
      grade: "unsupported",
      reason: "figure",
      fate: "dropped",
      stands: false,
      span: null,
      carrier: null,
    }),
  ],
};

export const partBy = (ordinal: number): PartRecord => ({
  path: "allowed/corpus/a.md",
  level: 0,
  ordinal,
  startChar: ordinal * 10,
  endChar: ordinal * 10 + 10,
  lineStart: ordinal + 1,
  lineEnd: ordinal + 1,
  summary: `Part number ${ordinal}.`,
});

function never(): never {
  throw new Error("the record has evidence");
}
