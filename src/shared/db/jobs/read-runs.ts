import { z } from "zod";
import { KINDS } from "../../job.ts";
import type { Queryable } from "../database.ts";
import { storedEvidence } from "./stored-evidence.ts";

const number = z.coerce.number();
const runSchema = z.object({
  run_id: z.string(),
  job_id: z.string(),
  batch_id: z.string(),
  batch: z.string(),
  custom_id: z.string(),
  kind: z.enum(KINDS),
  state: z.string(),
  attempt: z.number(),
  error_code: z.string().nullable(),
  model: z.string().nullable(),
  started_at: z.date(),
  finished_at: z.date().nullable(),
  run_ms: number.nullable(),
});
export type RunRow = z.infer<typeof runSchema>;

const RUN_COLUMNS = `r.run_id, j.job_id, j.batch_id, b.name as batch, j.custom_id, j.kind, r.state, r.attempt,
       r.error_code, coalesce(r.model_second, r.model_first) as model, r.started_at, r.finished_at, r.run_ms`;
const FROM = `from nightdesk_data.runs r
  join nightdesk_data.jobs j using (job_id)
  join nightdesk_data.batches b on b.batch_id = j.batch_id`;

/** Runs, newest first. @param batchId one batch, or null for all */
export async function listRuns(
  db: Queryable,
  batchId: string | null,
  limit: number,
): Promise<readonly RunRow[]> {
  const { rows } = await db.query(
    `select ${RUN_COLUMNS} ${FROM} where $1::uuid is null or j.batch_id = $1
      order by r.started_at desc, r.run_id limit $2`,
    [batchId, limit],
  );
  return z.array(runSchema).parse(rows);
}

const json = z.record(z.string(), z.unknown());
const detailSchema = runSchema.extend({
  input: json,
  priority: z.number(),
  job_state: z.string(),
  job_created_at: z.date(),
  max_attempts: z.number(),
  worker_id: z.string(),
  error_message: z.string().nullable(),
  answer: z.string().nullable(),
  scope: z.string().nullable(),
  citations: z.array(json),
  summary: json.nullable(),
  model_first: z.string().nullable(),
  model_second: z.string().nullable(),
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  queued_ms: number,
  model_ms: number,
  events: z.array(z.object({ step: z.string(), duration_ms: z.number(), detail: json })),
  tool_calls: z.array(
    z.object({
      name: z.string(),
      args: json,
      error_code: z.string().nullable(),
      error_message: z.string().nullable(),
      result: json.nullable(),
      trailing_text: z.string().nullable(),
      duration_ms: z.number(),
    }),
  ),
  evidence: z.array(
    storedEvidence.extend({
      evidence_id: z.number(),
      admitted: z.boolean(),
      rejected_reason: z.string().nullable(),
      source: z.string().nullable(),
      preview: z.string(),
    }),
  ),
  replies: z.array(
    z.object({
      pass: z.string(),
      model: z.string(),
      reply: z.string(),
      prompt_sha256: z.string(),
      prompt_tokens: z.number(),
      completion_tokens: z.number(),
      duration_ms: z.number(),
    }),
  ),
});

/** All that is stored of a run and of the job it worked on. */
export type RunDetail = z.infer<typeof detailSchema>;

const children = (table: string): string =>
  `(select coalesce(jsonb_agg(to_jsonb(c) - 'run_id' - 'ordinal' order by c.ordinal), '[]')
      from nightdesk_data.${table} c where c.run_id = r.run_id) as ${table === "run_events" ? "events" : table}`;

/** The run of that id, or all runs of the job of that id, first to last. @param id a UUID */
export async function selectRunDetails(db: Queryable, id: string): Promise<readonly RunDetail[]> {
  const { rows } = await db.query(
    `select ${RUN_COLUMNS}, j.input, j.priority, j.state as job_state, j.created_at as job_created_at, j.max_attempts,
            r.worker_id, r.error_message, r.answer, r.scope, r.citations, r.summary, r.model_first, r.model_second,
            r.prompt_tokens, r.completion_tokens, r.queued_ms, r.model_ms,
            ${["run_events", "tool_calls", "evidence", "replies"].map(children).join(", ")}
       ${FROM}
      where r.run_id = $1 or r.job_id = $1 order by r.started_at, r.run_id`,
    [id],
  );
  return z.array(detailSchema).parse(rows);
}
