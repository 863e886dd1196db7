import { z } from "zod";
import { JOB_STATES, KINDS } from "../job/job.ts";
import { RUN_GRADES } from "../job/run-result.ts";
import type { Queryable } from "../store/connection/database.ts";
import { rowsOf } from "../store/connection/rows.ts";
import { ERROR_PREVIEW_CHARS } from "./steps.ts";

/** Characters of an answer around the first match. */
const EXCERPT_CHARS = 400;
const BEFORE_CHARS = 120;

const foundSchema = z.object({
  job_id: z.string(),
  run_id: z.string().nullable(),
  batch_id: z.string(),
  batch: z.string(),
  custom_id: z.string(),
  kind: z.enum(KINDS),
  state: z.enum(JOB_STATES),
  error_code: z.string().nullable(),
  error_message: z.string().nullable(),
  grade: z.enum(RUN_GRADES).nullable(),
  answer_chars: z.number().nullable(),
  excerpt: z.string().nullable(),
  finished_at: z.date().nullable(),
});

/** A job that matches, with the part of its answer around the match. */
type FoundResult = z.infer<typeof foundSchema>;

type ResultQuery = {
  /** A substring of the answer, the custom_id or the error code, in any case; empty matches all. */
  readonly text: string;
  /** Null for all batches. */
  readonly batchId: string | null;
  /** Null for all states. */
  readonly state: (typeof JOB_STATES)[number] | null;
  readonly limit: number;
};

/** Jobs whose results contain the text, newest first, without Nightdesk's own jobs (checks, notifications). */
export const searchResults = (
  db: Queryable,
  { text, batchId, state, limit }: ResultQuery,
): Promise<readonly FoundResult[]> =>
  rowsOf(db, foundSchema, [text, batchId, state, limit])`
     select j.job_id, j.run_id, j.batch_id, b.name as batch, j.custom_id, j.kind, j.state, j.error_code,
            left(j.error_message, ${ERROR_PREVIEW_CHARS}) as error_message, r.grade, length(r.answer) as answer_chars,
            substr(r.answer, greatest(1, position(lower($1) in lower(r.answer)) - ${BEFORE_CHARS}), ${EXCERPT_CHARS}) as excerpt,
            j.finished_at
       from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id)
       left join nightdesk_data.runs r on r.run_id = j.run_id
      where b.origin not in ('system', 'verify')
        and ($2::uuid is null or j.batch_id = $2) and ($3::text is null or j.state = $3)
        and ($1 = '' or position(lower($1) in lower(concat_ws(E'\\n', r.answer, j.custom_id, j.error_code))) > 0)
      order by j.seq desc limit $4`;
