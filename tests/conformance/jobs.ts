import { randomUUID } from "node:crypto";
import type { Queryable } from "../../src/shared/store/connection/database.ts";
import { findOrCreateBatch, openBatch } from "../../src/shared/store/jobs/batches.ts";
import { claimJob } from "../../src/shared/store/jobs/claim-job.ts";
import type { ClaimedJob } from "../../src/shared/store/jobs/claim-job.ts";
import { dispatchDueJobs } from "../../src/shared/store/jobs/dispatch.ts";
import { insertJobs } from "../../src/shared/store/jobs/insert-jobs.ts";
import type { NewJob } from "../../src/shared/store/jobs/insert-jobs.ts";
import type { RunRecord } from "../../src/shared/store/jobs/run-tables.ts";
import { NOT_VERIFIED } from "../../src/shared/job/verification.ts";
import type { Answer } from "../../src/shared/job/run-result.ts";

export const WORKER = randomUUID();

export const askJob = (customId: string, overrides: Partial<NewJob> = {}): NewJob => ({
  customId,
  input: { kind: "ask", question: `What about ${customId}?` },
  inputSha256: "a".repeat(64),
  priority: 0,
  ...overrides,
});

/** An open batch of ask jobs. @returns its id and the job ids in order */
export async function openBatchOf(
  db: Queryable,
  jobs: readonly NewJob[],
  origin: "file" | "ad_hoc" = "file",
): Promise<{ batchId: string; jobIds: string[] }> {
  const { batchId } = await findOrCreateBatch(db, `batch ${randomUUID()}`, origin);
  const ids = await insertJobs(db, batchId, jobs);
  await openBatch(db, batchId);
  return { batchId, jobIds: jobs.map(({ customId }) => ids.get(customId) ?? "") };
}

/** Dispatches without a queue and claims one job. */
export async function claimNext(db: Queryable, jobId: string): Promise<ClaimedJob> {
  await dispatchDueJobs(db, 1_000);
  const claimed = await claimJob(db, { jobId, dispatch: await dispatchOf(db, jobId) }, WORKER);
  if (claimed === undefined) throw new Error(`job ${jobId} could not be claimed`);
  return claimed;
}

export async function dispatchOf(db: Queryable, jobId: string): Promise<number> {
  return Number((await rowOf(db, jobId))["dispatch"]);
}

export async function rowOf(db: Queryable, jobId: string): Promise<Record<string, unknown>> {
  const { rows } = await db.query("select * from nightdesk_data.jobs where job_id = $1", [jobId]);
  return rows[0] as Record<string, unknown>;
}

export async function countOf(
  db: Queryable,
  sql: string,
  values: readonly unknown[] = [],
): Promise<number> {
  const { rows } = await db.query(`select count(*)::int as n from ${sql}`, values);
  return (rows[0] as { n: number }).n;
}

/** Lets the lease of a run expire by the database's clock. What a killed worker had sent may still end its job meanwhile. */
export async function expireLease(db: Queryable, jobId: string): Promise<void> {
  await db.query(
    "update nightdesk_data.jobs set lease_until = clock_timestamp() - interval '1 s' where job_id = $1 and state = 'running'",
    [jobId],
  );
}

export const answered = (answer: string): Answer => ({
  kind: "succeeded",
  answer,
  scope: "Scope: test",
  citations: [],
  summary: null,
});

/** What runs of these tests were made with. */
export const MADE_WITH = {
  version: "0.0.0",
  configSha256: "e".repeat(64),
  configFile: "/etc/nightdesk.yaml",
  roots: { workroot: "/work", allowed: ["allowed"], sources: { corpus: "allowed/corpus" } },
} as const;

export const EMPTY_RECORD: RunRecord = {
  evidence: [],
  toolCalls: [],
  events: [],
  replies: [],
  models: [],
  checks: { quotes: [], figures: [] },
  claims: [],
  bindings: [],
  parts: [],
  verification: NOT_VERIFIED,
  memoryIds: [],
  usage: { promptTokens: 0, completionTokens: 0 },
  modelMs: 0,
};

export const FULL_RECORD: RunRecord = {
  evidence: [
    {
      kind: "file",
      admitted: true,
      rejectedReason: null,
      path: "allowed/corpus/a.md",
      source: null,
      sha256: "b".repeat(64),
      textSha256: "b".repeat(64),
      extractor: "utf-8",
      charsFull: 10,
      charsReturned: 10,
      truncated: false,
      chunkKey: null,
      headingPath: null,
      locator: null,
      startChar: 0,
      endChar: 10,
      lineStart: 1,
      lineEnd: 2,
      score: null,
      preview: "0123456789",
    },
  ],
  toolCalls: [
    {
      name: "read_text_file",
      args: { path: "a.md" },
      errorCode: null,
      errorMessage: null,
      result: { path: "allowed/corpus/a.md" },
      trailingText: null,
      durationMs: 1,
    },
  ],
  events: [{ step: "classify", atMs: 0, durationMs: 0.1, detail: { need: "file" } }],
  replies: [
    {
      pass: "second",
      model: "m",
      text: "an answer",
      promptTokens: 7,
      completionTokens: 3,
      durationMs: 5,
      requestSha256: "c".repeat(64),
      prompt: {
        template: "answer/2",
        sha256: "c".repeat(64),
        values: {},
        evidence: [],
        violations: [],
      },
      origin: "asked",
      kept: "as_returned",
    },
  ],
  models: [
    { pass: "first", model: "m", why: "model.name", facts: {} },
    { pass: "second", model: "m", why: "model.name", facts: {} },
  ],
  checks: { quotes: [], figures: [] },
  claims: [],
  bindings: [],
  parts: [],
  verification: NOT_VERIFIED,
  memoryIds: [],
  usage: { promptTokens: 7, completionTokens: 3 },
  modelMs: 5,
};
