import { z } from "zod";
import { JOB_STATES, KINDS } from "../job/job.ts";
import { locatorSchema } from "../job/locator.ts";
import { PASSED_OVER_JSON } from "../job/passed-over.ts";
import { CLAIM_GRADES, RUN_GRADES, UNBOUND_REASONS } from "../job/run-result.ts";
import { VERIFICATION_STATES } from "../job/verification.ts";
import type { Queryable } from "../store/connection/database.ts";
import { rowOf, rowsOf } from "../store/connection/rows.ts";
import { decidedColumns } from "../store/jobs/field-reviews.ts";
import { storedCitation } from "./citations.ts";
import { claimsColumn, leftOutClaim, storedClaim } from "./claims.ts";
import { DOUBT_OF_FIELD, doubtSchema, hasPicturesOf, quotePicture } from "./doubtful-figures.ts";
import { ERROR_PREVIEW_CHARS, stepsColumn, storedStep } from "./steps.ts";

/** The columns of an evidence row that every reader gets. */
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
  left_out: z.record(z.string(), z.number()),
  start_char: z.number(),
  end_char: z.number(),
  line_start: z.number(),
  line_end: z.number(),
  score: z.number().nullable(),
});

/** A single value of an extraction, and the words that support it. */
export const storedBinding = z.object({
  pointer: z.string(),
  value: z.union([z.string(), z.number(), z.boolean(), z.null()]),
  state: z.string(),
  reason: z.enum(UNBOUND_REASONS).nullable(),
  grade: z.enum(CLAIM_GRADES).nullable(),
  judge_detail: z.string().nullable(),
  /** The doubtful reading of a figure (OCR). */
  doubt: doubtSchema.nullable(),
  quote: z.string().nullable(),
  path: z.string().nullable(),
  line_start: z.number().nullable(),
  line_end: z.number().nullable(),
  locator: locatorSchema.nullable(),
  /** Set if the quote was read from a picture. */
  picture: quotePicture.optional(),
  ...decidedColumns,
});
export type StoredBinding = z.infer<typeof storedBinding>;

const count = z.coerce.number();
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
  vectors: count,
  config_sha256: z.string().nullable(),
  evidence: z.array(
    storedEvidence.extend({
      evidence_id: z.number(),
      passage: z.string().optional(),
      origin: z.string().optional(),
    }),
  ),
  evidence_count: count,
  outdated: z.array(z.string()),
  passed_over: z.array(z.object({ path: z.string(), newer: z.string() })),
  // Whether stored pictures of pages exist for the files that were read.
  has_pictures: z.boolean(),
  bindings: z.array(storedBinding),
  unfounded_links: z.array(z.string()),
  grade: z.enum(RUN_GRADES).nullable(),
  verification: z.enum(VERIFICATION_STATES).nullable(),
  claims_dropped: z.number().nullable(),
  claims: z.array(storedClaim),
  claims_count: count,
  claims_left_out: z.array(leftOutClaim),
  // Steps of an investigation; empty for any other kind.
  steps: z.array(storedStep),
});

/**
 * A job with the result of its last run. `duplicate_of`: the job that ran in its place. `evidence`: the admitted pieces.
 * `outdated`: evidence files whose bytes in the index have changed since. `passed_over`: documents that lost to a newer version,
 * as the question asked. `bindings`: the words that support values of an extraction. `vectors`: how many `selectVectors` returns.
 * `done_reason`: why the last reply of a model ended; null if no model was called. `unfounded_links`: links of the answer that
 * occur neither in the question nor in anything that was read. `claims`: the statements of the answer.
 */
export type JobResult = z.infer<typeof resultSchema>;

/** How much of a result is read. Its counts are always complete. */
type Limits = {
  /** Of the answer. The query reads one more, which shows that the answer is longer. */
  readonly answerChars: number | null;
  /** Pieces of evidence; cited ones come first. */
  readonly pieces: number | null;
  /** Of the text of a piece; 0 for none. */
  readonly passageChars: number;
  /** 2,000, all that a run stores, for no limit. */
  readonly claims: number;
  /** Values of an extraction. The query reads one more, as of the answer. */
  readonly bindings: number | null;
};

const ALL: Limits = {
  ...{ answerChars: null, pieces: null, passageChars: 0, claims: 2_000, bindings: null },
};

/** The limits for each answer of a report. */
export const SHOWN_OF_ANSWER = {
  ...{ answerChars: 6_000, pieces: 8, passageChars: 1_500, claims: 30, bindings: 60 },
} as const satisfies Limits;

/** The text of a chunk if the index still has it unchanged, else its preview. Empty for a whole file. */
const passageOf = (chars: number): string =>
  `left(case when e.kind = 'chunk'
     then coalesce((select c.text from nightdesk_data.chunks c where c.chunk_key = e.chunk_key and starts_with(c.text, e.preview)), e.preview)
     else '' end, ${chars})`;

/** The origin from the view; no key if it is null. */
const ORIGIN = `coalesce((select jsonb_build_object('origin', v.origin) from nightdesk.evidence v
                where v.evidence_id = e.evidence_id and v.origin is not null), '{}')`;

const selectOf = ({ answerChars, pieces, passageChars, claims, bindings }: Limits): string =>
  `select j.job_id, j.seq::text, j.batch_id, j.custom_id, j.kind, j.state, j.error_code,
       left(j.error_message, ${ERROR_PREVIEW_CHARS}) as error_message, j.duplicate_of, j.input, r.run_id,
       ${answerChars === null ? "r.answer" : `left(r.answer, ${answerChars + 1})`} as answer, r.scope, r.citations, r.summary,
       r.model_first, r.model_second, r.prompt_tokens, r.completion_tokens, r.queued_ms, r.model_ms, r.config_sha256,
       extract(epoch from j.finished_at - j.created_at) * 1000 as total_ms, j.created_at, j.finished_at,
       (select m.done_reason from nightdesk_data.run_calls c join nightdesk_data.model_calls m using (call_id)
         where c.run_id = j.run_id order by c.ordinal desc limit 1) as done_reason,
       (select count(*) from nightdesk_data.job_vectors v where v.job_id = j.job_id) as vectors,
       (select coalesce(jsonb_agg(to_jsonb(e) - 'preview' || ${ORIGIN}${passageChars === 0 ? "" : ` || jsonb_build_object('passage', ${passageOf(passageChars)})`}
               order by e.ordinal), '[]')
          from (select * from nightdesk_data.evidence e where e.run_id = j.run_id and e.admitted
                 order by r.citations @> jsonb_build_array(jsonb_build_object('path', e.path, 'chunkKey', e.chunk_key)) desc,
                          e.ordinal limit ${pieces ?? "null"}) e) as evidence,
       (select count(*) from nightdesk_data.evidence e where e.run_id = j.run_id and e.admitted) as evidence_count,
       array(select distinct e.path from nightdesk_data.evidence e
              where e.run_id = j.run_id and e.admitted and e.kind in ('file', 'chunk')
                and exists (select from nightdesk_data.documents d where d.path = e.path and d.sha256 <> e.sha256)
              order by e.path) as outdated,
       ${hasPicturesOf("j.run_id")} as has_pictures,
       ${PASSED_OVER_JSON} as passed_over,
       (select coalesce(jsonb_agg(to_jsonb(c) || jsonb_build_object('doubt', ${DOUBT_OF_FIELD}) order by c.ordinal), '[]')
          from (select * from nightdesk_data.field_bindings c where c.run_id = j.run_id order by ordinal limit ${bindings === null ? "null" : bindings + 1}) c) as bindings,
       (select coalesce(jsonb_agg(f.figure order by f.ordinal), '[]') from nightdesk_data.figures f
         where f.run_id = j.run_id and f.kind = 'link' and f.stands_in = 'neither') as unfounded_links,
       (select count(*) from nightdesk_data.claims c where c.run_id = j.run_id and c.stands) as claims_count,
       r.grade, r.verification, r.claims_dropped, ${claimsColumn(claims)}, ${stepsColumn()}
  from nightdesk_data.jobs j
  left join nightdesk_data.runs r on r.run_id = j.run_id`;

const SELECT = selectOf(ALL);

/** Grades that need a review, the worst first. */
export const DOUBTED_GRADES = [
  "unsupported",
  "unresolved",
  "unconfirmed",
] as const satisfies readonly (typeof RUN_GRADES)[number][];

/**
 * Results within the limits of a report. Order: the digests of the batch and its folders, answers that rest on a doubtful
 * reading of a figure, other doubted answers, then the rest in the order of insertion.
 */
export const selectReportAnswers = (
  db: Queryable,
  batchId: string,
  limit: number,
): Promise<readonly JobResult[]> =>
  rowsOf(db, resultSchema, [batchId, limit, DOUBTED_GRADES])`
     with shown as materialized (
       select j.job_id, j.seq, case when j.kind = 'digest' then case when j.input->>'level' = 'batch' then 0 else 1 end
                                when exists (select from nightdesk_data.claims c
                                              where c.run_id = j.run_id and c.stands and c.reason = 'reading')
                                  or exists (select from nightdesk_data.field_bindings f
                                              where f.run_id = j.run_id and f.reason = 'reading') then 2
                                else 2 + coalesce(array_position($3::text[], r.grade), 9) end as rank
         from nightdesk_data.jobs j left join nightdesk_data.runs r on r.run_id = j.run_id
        where j.batch_id = $1 and j.state = 'succeeded' and j.kind not in ('index', 'command', 'embed')
        order by rank, j.seq limit $2)
     ${selectOf(SHOWN_OF_ANSWER)} join shown on shown.job_id = j.job_id order by shown.rank, shown.seq`;

export async function selectResult(db: Queryable, jobId: string): Promise<JobResult | undefined> {
  const result = await rowOf(db, resultSchema, [jobId])`${SELECT} where j.job_id = $1`;
  return result && withPictures(db, result);
}

/** Adds to each quote from a picture its place there. */
async function withPictures(db: Queryable, result: JobResult): Promise<JobResult> {
  if (!result.has_pictures) return result;
  const { selectQuotePictures } = await import("./quote-pictures.ts");
  const { evidence, claims, bindings } = result;
  const found = await selectQuotePictures(db, evidence, [...claims, ...bindings]);
  const pictured = <T extends object>(one: T, at: number): T =>
    found[at] === undefined ? one : { ...one, picture: found[at] };
  return {
    ...result,
    claims: claims.map(pictured),
    bindings: bindings.map((binding, at) => pictured(binding, claims.length + at)),
  };
}

/** A page ends before its inputs have this many characters, so that large jobs come in small pages. */
const PAGE_CHARS = 1_000_000;
const PAGE_JOBS = 200;

/** Every job of a batch with its result, in the order of insertion. Memory holds one page at a time. */
export async function* readResults(
  db: Queryable,
  batchId: string,
): AsyncGenerator<JobResult, void> {
  // The query measures the inputs of `most` jobs. After a short page it measures fewer, and not hundreds.
  for (let after = "0", most = PAGE_JOBS; ;) {
    const page = await selectResultPage(db, batchId, { after, most });
    for (const result of page) yield await withPictures(db, result);
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.seq;
    most = Math.min(PAGE_JOBS, page.length * 2);
  }
}

/** One page of a batch's jobs. @param after `seq` of the last job of the previous page, or 0 */
const selectResultPage = (
  db: Queryable,
  batchId: string,
  { after, most }: { readonly after: string; readonly most: number },
): Promise<readonly JobResult[]> =>
  rowsOf(db, resultSchema, [batchId, after, most])`
     with page as materialized (
       select job_id from (
         select job_id, seq, sum(length(input::text)) over (order by seq) - length(input::text) as before
           from (select job_id, seq, input from nightdesk_data.jobs
                  where batch_id = $1 and seq > $2::bigint order by seq limit $3) next) sized
        where before < ${PAGE_CHARS})
     ${SELECT} where j.job_id in (select job_id from page) order by j.seq`;

const vectorSchema = z.object({ model: z.string(), embedding: z.string() });

/** Vectors of an embedding job over free text, in the order of its texts. */
export async function selectVectors(
  db: Queryable,
  jobId: string,
): Promise<{ readonly model: string | null; readonly vectors: readonly (readonly number[])[] }> {
  const parsed = await rowsOf(db, vectorSchema, [jobId])`
     select model, embedding::text from nightdesk_data.job_vectors where job_id = $1 order by ordinal`;
  return {
    model: parsed[0]?.model ?? null,
    // pgvector writes a vector as a JSON list.
    vectors: parsed.map(({ embedding }) => z.array(z.number()).parse(JSON.parse(embedding))),
  };
}
