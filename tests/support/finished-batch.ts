import { randomUUID } from "node:crypto";
import { hashJson } from "../../src/shared/schema/json-value.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";

/** A job that has ended, as a test describes it; what is left out is of no matter to it. */
export type FinishedJob = {
  readonly customId: string;
  readonly input: Readonly<Record<string, unknown>> & { readonly kind: string };
  readonly state?: "succeeded" | "refused" | "failed" | "cancelled" | "expired";
  readonly code?: string;
  readonly message?: string;
  readonly answer?: string;
  readonly scope?: string;
  readonly output?: Readonly<Record<string, unknown>>;
  readonly citations?: readonly Readonly<Record<string, unknown>>[];
  readonly model?: string;
  readonly promptTokens?: number;
  readonly completionTokens?: number;
  readonly runMs?: number;
  readonly evidence?: readonly { path: string; lines: readonly [number, number]; sha256: string }[];
  readonly rerunOf?: string;
  readonly doneReason?: "stop" | "length" | "window";
  readonly vectors?: readonly (readonly number[])[];
};

export type FinishedBatch = {
  readonly name: string;
  readonly jobs: readonly FinishedJob[];
  readonly format?: "native" | "openai";
  readonly createdAt?: string;
};

const WORKER = randomUUID();

/** Writes the rows of a batch whose jobs have ended, without a worker. @returns job ids by custom_id */
export async function insertFinishedBatch(
  database: Database,
  { name, jobs, format = "native", createdAt = "2026-11-20T21:00:00Z" }: FinishedBatch,
): Promise<ReadonlyMap<string, string>> {
  const batchId = randomUUID();
  await database.query(
    `insert into nightdesk_data.batches (batch_id, name, state, format, created_at, finished_at)
     values ($1, $2, 'completed', $3, $4, $4::timestamptz + interval '8 h')`,
    [batchId, name, format, createdAt],
  );
  const ids = new Map<string, string>();
  for (const job of jobs)
    ids.set(job.customId, await insertJob(database, { batchId, createdAt, job }));
  return ids;
}

type Placed = { readonly batchId: string; readonly createdAt: string; readonly job: FinishedJob };

async function insertJob(database: Database, { batchId, createdAt, job }: Placed): Promise<string> {
  const [jobId, runId] = [randomUUID(), randomUUID()];
  const { state = "succeeded", code = null, message = null } = job;
  await database.transaction(async (db) => {
    await db.query(
      `insert into nightdesk_data.jobs (job_id, batch_id, custom_id, kind, input, input_sha256, state, run_id, attempt,
              error_code, error_message, rerun_of, created_at, started_at, finished_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, 1, $9, $10, $11, $12, $12, $12::timestamptz + interval '10 s')`,
      [
        jobId,
        batchId,
        job.customId,
        job.input.kind,
        JSON.stringify(job.input),
        hashJson(job.input),
        state,
        runId,
        code,
        message,
        job.rerunOf ?? null,
        createdAt,
      ],
    );
    await db.query(
      `insert into nightdesk_data.runs (run_id, job_id, attempt, worker_id, state, answer, scope, summary, error_code,
              error_message, model_second, prompt_tokens, completion_tokens, model_ms, run_ms, started_at, finished_at,
              citations)
       values ($1, $2, 1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 / 2, $13, $14, $14, $15)`,
      [
        runId,
        jobId,
        WORKER,
        state,
        job.answer ?? null,
        job.scope ?? null,
        job.output === undefined ? null : JSON.stringify(job.output),
        code,
        message,
        job.model ?? "small:1b",
        job.promptTokens ?? 100,
        job.completionTokens ?? 20,
        job.runMs ?? 1_000,
        createdAt,
        JSON.stringify(job.citations ?? []),
      ],
    );
    for (const [ordinal, piece] of (job.evidence ?? []).entries()) {
      await db.query(
        `insert into nightdesk_data.evidence (run_id, ordinal, kind, admitted, path, sha256, text_sha256, chars_full, chars_returned,
                truncated, start_char, end_char, line_start, line_end, preview)
         values ($1, $2, 'file', true, $3, $4, $4, 9, 9, false, 0, 9, $5, $6, '')`,
        [runId, ordinal, piece.path, piece.sha256, ...piece.lines],
      );
    }
    for (const [ordinal, vector] of (job.vectors ?? []).entries()) {
      await db.query(
        "insert into nightdesk_data.job_vectors (job_id, ordinal, model, embedding) values ($1, $2, 'hashing', $3)",
        [jobId, ordinal, JSON.stringify(vector)],
      );
    }
    if (job.doneReason !== undefined)
      await insertCall(db, { jobId, runId, doneReason: job.doneReason });
  });
  return jobId;
}

async function insertCall(
  db: Pick<Database, "query">,
  { jobId, runId, doneReason }: { jobId: string; runId: string; doneReason: string },
): Promise<void> {
  await db.query(
    `with made as (
       insert into nightdesk_data.model_calls (job_id, run_id, pass, request_sha256, model, prompt_template, prompt_sha256,
              prompt, reply, done_reason, duration_ms)
       values ($1, $2, 'chat', repeat('a', 64), 'small:1b', 'chat/1', repeat('b', 64), '{}', 'x', $3, 1)
       returning call_id)
     insert into nightdesk_data.run_calls (run_id, ordinal, pass, call_id, origin)
     select $2, 0, 'chat', call_id, 'asked' from made`,
    [jobId, runId, doneReason],
  );
}
