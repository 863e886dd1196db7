import { z } from "zod";
import { Failure } from "../../failure.ts";
import { JOB_STATES, KINDS } from "../../job.ts";
import type { Queryable, Rows } from "../connection/database.ts";
import { vectorText } from "../index/vector-index.ts";
import { storedEvidence } from "./evidence.ts";

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
  done_reason: z.enum(["stop", "length", "window"]).nullable(),
  vectors: z.coerce.number(),
  evidence: z.array(storedEvidence),
  unfounded_links: z.array(z.string()),
});

/**
 * A job with the result of its last run. `evidence` holds what was admitted, `vectors` how many `selectVectors` gives,
 * `done_reason` why the last reply of a model ended; null where no model was asked. `unfounded_links` stand in the answer,
 * and neither in the question nor in anything that was read.
 */
export type JobResult = z.infer<typeof resultSchema>;

const SELECT = `select j.job_id, j.seq::text, j.batch_id, j.custom_id, j.kind, j.state, j.error_code, j.error_message,
       j.input, r.run_id, r.answer, r.scope, r.citations, r.summary, r.model_first, r.model_second,
       r.prompt_tokens, r.completion_tokens, r.queued_ms, r.model_ms,
       extract(epoch from j.finished_at - j.created_at) * 1000 as total_ms, j.created_at, j.finished_at,
       (select m.done_reason from nightdesk_data.run_calls c join nightdesk_data.model_calls m using (call_id)
         where c.run_id = j.run_id order by c.ordinal desc limit 1) as done_reason,
       (select count(*) from nightdesk_data.job_vectors v where v.job_id = j.job_id) as vectors,
       (select coalesce(jsonb_agg(jsonb_build_object('kind', e.kind, 'path', e.path, 'sha256', e.sha256,
               'chars_full', e.chars_full, 'chars_returned', e.chars_returned, 'truncated', e.truncated,
               'chunk_key', e.chunk_key, 'heading_path', e.heading_path, 'start_char', e.start_char,
               'end_char', e.end_char, 'line_start', e.line_start, 'line_end', e.line_end, 'score', e.score)
               order by e.ordinal), '[]')
          from nightdesk_data.evidence e where e.run_id = j.run_id and e.admitted) as evidence,
       (select coalesce(jsonb_agg(f.figure order by f.ordinal), '[]') from nightdesk_data.figures f
         where f.run_id = j.run_id and f.kind = 'link' and f.stands_in = 'neither') as unfounded_links
  from nightdesk_data.jobs j
  left join nightdesk_data.runs r on r.run_id = j.run_id`;

export async function selectResult(db: Queryable, jobId: string): Promise<JobResult | undefined> {
  const { rows } = await db.query(`${SELECT} where j.job_id = $1`, [jobId]);
  return z.array(resultSchema).parse(rows)[0];
}

/** Before the first job of any batch. */
export const FIRST = "0";
/** A page ends before it holds this many characters of inputs, so that large jobs come in small pages. */
const PAGE_CHARS = 4_000_000;

/**
 * One page of a batch's jobs in the order of their insertion, at most `limit` and about 4 MB of inputs.
 * @param after `seq` of the last job of the page before, or FIRST
 */
export async function selectResultPage(
  db: Queryable,
  batchId: string,
  after: string,
  limit: number,
): Promise<readonly JobResult[]> {
  const { rows } = await db.query(
    `with page as materialized (
       select job_id from (
         select job_id, seq, sum(length(input::text)) over (order by seq) - length(input::text) as before
           from (select job_id, seq, input from nightdesk_data.jobs
                  where batch_id = $1 and seq > $2::bigint order by seq limit $3) next) sized
        where before < ${PAGE_CHARS})
     ${SELECT} where j.job_id in (select job_id from page) order by j.seq`,
    [batchId, after, limit],
  );
  return z.array(resultSchema).parse(rows);
}

/** Several times what the largest accepted reply takes with its rows, and far below what a server or PGlite chokes on. */
const MAX_STATEMENT_CHARS = 32 * 1024 * 1024;

/** SQLSTATEs of data that no server takes: class 22 (invalid text, numbers out of range), 54 (limits), out of memory. */
const UNSTORABLE = /^(?:22...|54...|53200)$/;

type Statement = {
  readonly text: string;
  readonly name: string;
  /** Makes the values, which may be too long for a string. */
  readonly values: () => readonly unknown[];
};

/**
 * Runs a statement that stores what a model gave.
 * @throws Failure RESULT_UNSTORABLE where it is too large, or the database refuses the data: the same again would end the
 *   same. Else what `db.query` throws.
 */
export async function storeResult(db: Queryable, { text, name, values }: Statement): Promise<Rows> {
  const made = valuesOf(values);
  const chars = made.reduce<number>(
    (total, value) => total + (typeof value === "string" ? value.length : 0),
    0,
  );
  if (chars > MAX_STATEMENT_CHARS) {
    throw unstorable(`it takes ${chars} characters, and ${MAX_STATEMENT_CHARS} are the most`);
  }
  try {
    return await db.query(text, made, name);
  } catch (error) {
    const state = stateOf(error);
    if (!UNSTORABLE.test(state)) throw error;
    throw unstorable(`the database refuses it with SQLSTATE ${state}`, error);
  }
}

function valuesOf(values: Statement["values"]): readonly unknown[] {
  try {
    return values();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw unstorable("it is longer than any text can be", error);
  }
}

// The words of the database may repeat the data.
const unstorable = (why: string, cause?: unknown): Failure =>
  new Failure(
    "RESULT_UNSTORABLE",
    `The result can't be stored: ${why}. Lower model.max_tokens, or split the job into smaller ones.`,
    cause === undefined ? {} : { cause },
  );

/** Not instanceof: an error of Node's own modules may come from another realm. */
const stateOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : "";

/** Stores the vectors of free texts, in order, while the job still names this run. */
export async function storeJobVectors(
  db: Queryable,
  job: { readonly jobId: string; readonly runId: string },
  { model, vectors }: { readonly model: string; readonly vectors: readonly Float32Array[] },
): Promise<void> {
  await db.query(
    `insert into nightdesk_data.job_vectors (job_id, ordinal, model, embedding)
     select j.job_id, v.place - 1, $3, v.embedding::vector
       from nightdesk_data.jobs j, unnest($4::text[]) with ordinality as v (embedding, place)
      where j.job_id = $1 and j.run_id = $2 and j.state = 'running'
     on conflict (job_id, ordinal) do update set model = excluded.model, embedding = excluded.embedding`,
    [job.jobId, job.runId, model, vectors.map(vectorText)],
  );
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
