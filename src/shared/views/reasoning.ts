import { z } from "zod";
import type { Queryable } from "../store/connection/database.ts";
import { rowsOf } from "../store/connection/rows.ts";

const rowsSchema = z.object({
  call_id: z.coerce.number(),
  job_id: z.string(),
  run_id: z.string(),
  pass: z.string(),
  model: z.string(),
  chars: z.number(),
  reasoning: z.string(),
  created_at: z.date(),
  expires_at: z.date().nullable(),
});

/** The reasoning of a model before one of its replies. */
export type ReasoningRow = z.infer<typeof rowsSchema>;

/**
 * The stored reasoning for the calls of a run, or of a job and its check jobs, in the order of the calls. Nothing else reads it.
 * @param id UUID of a run or a job
 */
export const selectReasoning = (db: Queryable, id: string): Promise<readonly ReasoningRow[]> =>
  rowsOf(db, rowsSchema, [id])`
     select c.call_id, c.job_id, c.run_id, c.pass, c.model, t.chars, t.reasoning, c.created_at, t.expires_at
       from nightdesk_data.model_calls c join nightdesk_data.call_reasoning t using (call_id, run_id)
      where c.job_id in (select $1::uuid union all
                         select check_job_id from nightdesk_data.checks where job_id = $1 and check_job_id is not null)
         or c.run_id = $1 and c.job_id = (select r.job_id from nightdesk_data.runs r where r.run_id = $1)
      order by c.call_id`;
