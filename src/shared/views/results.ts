import { z } from "zod";
import { JOB_STATES, KINDS } from "../job.ts";
import { locatorSchema } from "../locator.ts";
import { PASSED_OVER_JSON } from "../passed-over.ts";
import { RUN_GRADES, UNBOUND_REASONS } from "../run-result.ts";
import { VERIFICATION_STATES } from "../verification.ts";
import type { Queryable } from "../store/connection/database.ts";
import { claimsColumn, leftOutClaim, storedClaim } from "./claims.ts";
import { ERROR_PREVIEW_CHARS, stepsColumn, storedStep } from "./steps.ts";

/** What every reader of an evidence row is told of it. */
export const storedEvidence = z.object({
  kind: z.enum(["file", "chunk", "web", "output"]),
  path: z.string(),
  sha256: z.string(),
  chars_full: z.number(),
  chars_returned: z.number(),
  truncated: z.boolean(),
  chunk_key: z.string().nullable(),
  heading_path: z.string().nullable(),
  locator: locatorSchema.nullable(),
  start_char: z.number(),
  end_char: z.number(),
  line_start: z.number(),
  line_end: z.number(),
  score: z.number().nullable(),
});

/** As the worker stored them: camelCase. */
export const storedCitation = z.object({
  jobId: z.string().nullish(),
  path: z.string(),
  heading: z.string().nullish(),
  chunkKey: z.string().nullish(),
  lineStart: z.number().nullish(),
  lineEnd: z.number().nullish(),
  quote: z.string().nullish(),
  number: z.number().nullish(),
  resolved: z.literal(false).nullish(),
});
export type StoredCitation = z.infer<typeof storedCitation>;

const milliseconds = z.coerce.number().nullable();
const resultSchema = z.object({
  job_id: z.string(),
  seq: z.string(),
  batch_id: z.string(),
  custom_id: z.string(),
  kind: z.enum(KINDS),
  state: z.enum(JOB_STATES),
  error_code: z.string().nullable(),
  error_message: z.string().nullable(),
  duplicate_of: z.string().nullable(),
  input: z.record(z.string(), z.unknown()),
  run_id: z.string().nullable(),
  answer: z.string().nullable(),
  scope: z.string().nullable(),
  citations: z.array(storedCitation).nullable(),
  summary: z.record(z.string(), z.unknown()).nullable(),
  model_first: z.string().nullable(),
  model_second: z.string().nullable(),
  prompt_tokens: z.number().nullable(),
  completion_tokens: z.number().nullable(),
  queued_ms: milliseconds,
  model_ms: milliseconds,
  total_ms: milliseconds,
  created_at: z.date(),
  finished_at: z.date().nullable(),
  done_reason: z.enum(["stop", "length", "window", "thought"]).nullable(),
  vectors: z.coerce.number(),
  evidence: z.array(storedEvidence.extend({ evidence_id: z.number() })),
  passed_over: z.array(z.object({ path: z.string(), newer: z.string() })),
  fields_in_doubt: z.array(
    z.object({ pointer: z.string(), state: z.string(), reason: z.enum(UNBOUND_REASONS) }),
  ),
  unfounded_links: z.array(z.string()),
  grade: z.enum(RUN_GRADES).nullable(),
  verification: z.enum(VERIFICATION_STATES).nullable(),
  claims_dropped: z.number().nullable(),
  claims: z.array(storedClaim),
  claims_left_out: z.array(leftOutClaim),
  // Those of an investigation; none of any other kind.
  steps: z.array(storedStep),
});

/**
 * A job with the result of its last run. `duplicate_of` is the job that was worked in its place. `evidence` holds what was
 * admitted, `passed_over` documents with a newer version that the question asked for, `fields_in_doubt` values that words
 * carry with a doubt or not at all, and those that were left out, `vectors` how many `selectVectors` gives, `done_reason`
 * why the last reply of a model ended; null where no model was asked. `unfounded_links` stand in the answer, and neither in
 * the question nor in anything that was read; `claims` are the statements that the answer holds.
 */
export type JobResult = z.infer<typeof resultSchema>;

/** As many as a run keeps. */
const MOST_CLAIMS = 2_000;

const SELECT = `select j.job_id, j.seq::text, j.batch_id, j.custom_id, j.kind, j.state, j.error_code,
       left(j.error_message, ${ERROR_PREVIEW_CHARS}) as error_message, j.duplicate_of, j.input, r.run_id, r.answer, r.scope, r.citations, r.summary, r.model_first, r.model_second,
       r.prompt_tokens, r.completion_tokens, r.queued_ms, r.model_ms,
       extract(epoch from j.finished_at - j.created_at) * 1000 as total_ms, j.created_at, j.finished_at,
       (select m.done_reason from nightdesk_data.run_calls c join nightdesk_data.model_calls m using (call_id)
         where c.run_id = j.run_id order by c.ordinal desc limit 1) as done_reason,
       (select count(*) from nightdesk_data.job_vectors v where v.job_id = j.job_id) as vectors,
       (select coalesce(jsonb_agg(jsonb_build_object('evidence_id', e.evidence_id, 'kind', e.kind, 'path', e.path, 'sha256', e.sha256,
               'chars_full', e.chars_full, 'chars_returned', e.chars_returned, 'truncated', e.truncated,
               'chunk_key', e.chunk_key, 'heading_path', e.heading_path, 'locator', e.locator,
               'start_char', e.start_char,
               'end_char', e.end_char, 'line_start', e.line_start, 'line_end', e.line_end, 'score', e.score)
               order by e.ordinal), '[]')
          from nightdesk_data.evidence e where e.run_id = j.run_id and e.admitted) as evidence,
       ${PASSED_OVER_JSON} as passed_over,
       (select coalesce(jsonb_agg(jsonb_build_object('pointer', f.pointer, 'state', f.state, 'reason', f.reason)
               order by f.ordinal), '[]')
          from nightdesk_data.field_bindings f where f.run_id = j.run_id and f.reason is not null) as fields_in_doubt,
       (select coalesce(jsonb_agg(f.figure order by f.ordinal), '[]') from nightdesk_data.figures f
         where f.run_id = j.run_id and f.kind = 'link' and f.stands_in = 'neither') as unfounded_links,
       r.grade, r.verification, r.claims_dropped, ${claimsColumn(MOST_CLAIMS)}, ${stepsColumn()}
  from nightdesk_data.jobs j
  left join nightdesk_data.runs r on r.run_id = j.run_id`;

export async function selectResult(db: Queryable, jobId: string): Promise<JobResult | undefined> {
  const { rows } = await db.query(`${SELECT} where j.job_id = $1`, [jobId]);
  return z.array(resultSchema).parse(rows)[0];
}

/** A page ends before it holds this many characters of inputs, so that large jobs come in small pages. */
const PAGE_CHARS = 4_000_000;
const PAGE_JOBS = 200;

/** Every job of a batch with its result, in the order of insertion; one page of rows is held at a time. */
export async function* readResults(
  db: Queryable,
  batchId: string,
): AsyncGenerator<JobResult, void> {
  for (let after = "0"; ;) {
    const page = await selectResultPage(db, batchId, after);
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}

/** One page of a batch's jobs. @param after `seq` of the last job of the page before, or 0 */
async function selectResultPage(
  db: Queryable,
  batchId: string,
  after: string,
): Promise<readonly JobResult[]> {
  const { rows } = await db.query(
    `with page as materialized (
       select job_id from (
         select job_id, seq, sum(length(input::text)) over (order by seq) - length(input::text) as before
           from (select job_id, seq, input from nightdesk_data.jobs
                  where batch_id = $1 and seq > $2::bigint order by seq limit ${PAGE_JOBS}) next) sized
        where before < ${PAGE_CHARS})
     ${SELECT} where j.job_id in (select job_id from page) order by j.seq`,
    [batchId, after],
  );
  return z.array(resultSchema).parse(rows);
}

const vectorSchema = z.array(z.object({ model: z.string(), embedding: z.string() }));

/** Vectors of a job of free text, in the order of its texts. */
export async function selectVectors(
  db: Queryable,
  jobId: string,
): Promise<{ readonly model: string | null; readonly vectors: readonly (readonly number[])[] }> {
  const { rows } = await db.query(
    "select model, embedding::text from nightdesk_data.job_vectors where job_id = $1 order by ordinal",
    [jobId],
  );
  const parsed = vectorSchema.parse(rows);
  return {
    model: parsed[0]?.model ?? null,
    // pgvector writes a vector as a JSON list.
    vectors: parsed.map(({ embedding }) => z.array(z.number()).parse(JSON.parse(embedding))),
  };
}
