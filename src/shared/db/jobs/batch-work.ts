import { z } from "zod";
import type { Queryable } from "../database.ts";

const count = z.coerce.number();

/**
 * What a job costs before it is done: the bytes of its file and of its input, and a share for the rest of the prompt
 * and the reply. Jobs of one batch differ by their files; a count of jobs would promise the end of a night of large
 * files from the pace of its small ones, which come first.
 */
const WORK = "1200 + j.size + pg_column_size(j.input)";

/** Jobs that were looked at to tell the pace of a batch, at most. */
const MOST_RECENT = 5_000;

/** What was done lately: `work` is in the unit of `selectWorkLeft`. */
export type Pace = {
  readonly work: number;
  readonly tokens: number;
  readonly seconds: number;
};

const paceSchema = z.tuple([z.object({ work: count, tokens: count, seconds: count })]);

/** The pace of a batch in the last five minutes, or as much of them as its last 5,000 runs took. Zero before two have ended. */
export async function selectPace(db: Queryable, batchId: string): Promise<Pace> {
  const { rows } = await db.query(
    `with recent as materialized (
       select r.finished_at, r.prompt_tokens + r.completion_tokens as tokens, ${WORK} as work,
              min(r.finished_at) over () as first
         from (select job_id, finished_at, prompt_tokens, completion_tokens from nightdesk_data.runs
                where finished_at > clock_timestamp() - interval '5 min'
                order by finished_at desc limit ${MOST_RECENT}) r
         join nightdesk_data.jobs j using (job_id) where j.batch_id = $1)
     -- What ended first began before the time that is measured.
     select coalesce(sum(work) filter (where finished_at > first), 0) as work,
            coalesce(sum(tokens) filter (where finished_at > first), 0) as tokens,
            coalesce(extract(epoch from clock_timestamp() - min(first)), 0) as seconds
       from recent`,
    [batchId],
  );
  return paceSchema.parse(rows)[0];
}

const leftSchema = z.tuple([z.object({ work: count })]);

/** The work of all jobs of a batch that have not ended. It looks at each of them: half a second of CPU for a million. */
export async function selectWorkLeft(db: Queryable, batchId: string): Promise<number> {
  const { rows } = await db.query(
    `select coalesce(sum(${WORK}), 0) as work from nightdesk_data.jobs j
      where j.batch_id = $1 and j.state in ('queued', 'running', 'parked')`,
    [batchId],
  );
  return leftSchema.parse(rows)[0].work;
}
