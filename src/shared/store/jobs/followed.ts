import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { rowOf } from "../connection/rows.ts";

/** The parts of an earlier question that its follow-up uses. */
const carried = {
  /** The first 2,000 characters of the user's text, without its answer and without the question that it follows itself. */
  question: z.string(),
  /** Files that were admitted as evidence, in order of the record; they count as named. */
  paths: z.array(z.string()),
};
export const followedSchema = z.object(carried);
export type Followed = z.infer<typeof followedSchema>;

const foundSchema = z.object({
  ...carried,
  job: z.string(),
  /** All files in its evidence. */
  seen: z.array(z.string()),
});

const MOST_CHARS = 2_000;
/** The most files that a question may name. */
const MOST_FILES = 8;

/** Finds an answered or refused question for its follow-up. @param id UUID of its job or of one of its runs */
export const findFollowed = (
  db: Queryable,
  id: string,
): Promise<z.infer<typeof foundSchema> | undefined> =>
  rowOf(db, foundSchema, [id])`
     select j.job_id as job,
            left(j.input->>'question', ${MOST_CHARS}) as question,
            coalesce((array_agg(e.path order by e.first) filter (where e.admitted))[:${MOST_FILES}], '{}') as paths,
            coalesce(array_agg(e.path) filter (where e.path is not null), '{}') as seen
       from nightdesk_data.jobs j
       left join lateral (
         select path, bool_or(admitted) as admitted, min(ordinal) as first
           from nightdesk_data.evidence where run_id = j.run_id group by path) e on true
      where j.job_id = coalesce((select job_id from nightdesk_data.runs where run_id = $1), $1)
        and j.kind = 'ask' and j.state in ('succeeded', 'refused') group by j.job_id`;
