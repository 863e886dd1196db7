import { createHash } from "node:crypto";
import type { Settlement } from "../../src/shared/job/settlement.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { openGrant } from "../../src/shared/store/investigations/grants.ts";
import {
  beginModelStep,
  beginToolStep,
  endModelStep,
  endToolStep,
  insertStep,
} from "../../src/shared/store/investigations/steps.ts";
import type { NewArtifact } from "../../src/shared/store/investigations/steps.ts";
import type { ClaimedJob } from "../../src/shared/store/jobs/claim-job.ts";
import { insertModelCall } from "../../src/shared/store/jobs/model-calls.ts";
import { settleRun } from "../../src/shared/store/jobs/settle-run.ts";
import { askJob, claimNext, EMPTY_RECORD, MADE_WITH, openBatchOf } from "../conformance/jobs.ts";

export const sha256Of = (content: string | Buffer): string =>
  createHash("sha256").update(content).digest("hex");

/** A result of a tool, as a worker stores it. */
export function resultOf(
  text: string,
  evidence: readonly { readonly path: string; readonly text: string }[] = [],
): NewArtifact {
  const pieces = evidence.map((reading) => ({ kind: "file", reading }));
  const content = Buffer.from(JSON.stringify({ text, facts: {}, evidence: pieces }));
  const kept = evidence.length > 0 ? ("evidence" as const) : ("output" as const);
  return { stream: "result", sha256: sha256Of(content), content, class: kept };
}

/** Claims an investigation of a batch of its own, with a grant of two tools. */
export async function claimInvestigation(db: Database): Promise<ClaimedJob & { batchId: string }> {
  const { batchId, jobIds } = await openBatchOf(db, [
    askJob("look", { input: { kind: "investigate", task: "Which ropes?" } }),
  ]);
  const run = await claimNext(db, jobIds[0] ?? "");
  await openGrant(db, run, {
    preset: "reader",
    presetSha256: "a".repeat(64),
    tools: ["read_text_file", "search_text"],
    roots: [],
    limits: { maxSteps: 10, maxCalls: 5, maxTokens: 1_000, maxSeconds: 60 },
  });
  return { ...run, batchId };
}

/** A call of a tool that gave something, as one step. */
export async function giveOutput(
  db: Database,
  run: ClaimedJob,
  ordinal: number,
  artifact: NewArtifact,
): Promise<void> {
  const evidence = artifact.class === "evidence" ? [1] : [];
  await beginToolStep(db, run, {
    ordinal,
    name: evidence.length > 0 ? "read_text_file" : "search_text",
    effect: "none",
    state: "started",
    args: { path: "ropes.md" },
    argsSha256: "b".repeat(64),
    detail: { move: evidence.length > 0 ? "open" : "search" },
  });
  await endToolStep(db, run, ordinal, {
    state: "done",
    result: { output_sha256: artifact.sha256 },
    error: null,
    durationMs: 7,
    detail: { evidence, found: evidence.length },
    artifacts: [artifact],
    cut: 0,
    keepOutputsDays: 14,
  });
}

export const REFUSED: Settlement = { kind: "refused", code: "STAGNATED", message: "Nothing new." };

export const settleInvestigation = (
  db: Database,
  run: ClaimedJob,
  settlement: Settlement = REFUSED,
): Promise<unknown> =>
  settleRun(db, { runId: run.runId, runMs: 1, ...MADE_WITH }, settlement, EMPTY_RECORD);

/**
 * An investigation that asked a model, read a file, found lines, was told of a tool that is not granted, and met an error
 * of 900 characters.
 */
export async function investigatedJob(db: Database): Promise<ClaimedJob & { batchId: string }> {
  const run = await claimInvestigation(db);
  await beginModelStep(db, run, 0, "c".repeat(64));
  await insertModelCall(db, run, {
    pass: "step",
    requestSha256: "c".repeat(64),
    model: "looker",
    modelDigest: null,
    prompt: { template: "t/1", sha256: "d".repeat(64), values: {}, evidence: [], violations: [] },
    reply: {
      text: "",
      toolCalls: [{ name: "read_text_file", args: { path: "ropes.md" } }],
      doneReason: "stop",
      promptTokens: 1_200,
      completionTokens: 34,
      loadMs: 0,
    },
    refusal: null,
    durationMs: 5,
  });
  await endModelStep(db, run, 0, { state: "done", detail: {} });
  const words = resultOf("", [{ path: "ropes.md", text: "The rope renews in May." }]);
  await giveOutput(db, run, 1, words);
  await giveOutput(db, run, 2, resultOf("2 lines hold the word."));
  await insertStep(db, run, {
    ordinal: 3,
    kind: "policy",
    detail: { rule: "not_granted", tool: "shell", denied: true, told: "There is no tool shell." },
  });
  await beginToolStep(db, run, {
    ordinal: 4,
    name: "search_text",
    effect: "none",
    state: "started",
    args: { pattern: "p".repeat(400) },
    argsSha256: "b".repeat(64),
    detail: { move: "search" },
  });
  await endToolStep(db, run, 4, {
    state: "failed",
    result: null,
    error: { code: "TOOL_ERROR", message: "e".repeat(900) },
    durationMs: 3,
    detail: {},
    artifacts: [],
    cut: 0,
    keepOutputsDays: 14,
  });
  await insertStep(db, run, { ordinal: 5, kind: "end", detail: { why: "stagnated" } });
  await settleInvestigation(db, run);
  return run;
}
