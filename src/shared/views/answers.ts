import { z } from "zod";
import { JOB_STATES } from "../job.ts";
import type { Queryable } from "../store/connection/database.ts";

const answerSchema = z.object({
  custom_id: z.string(),
  job_id: z.string(),
  state: z.enum(JOB_STATES),
  error_code: z.string().nullable(),
  answer: z.string().nullable(),
  scope: z.string().nullable(),
  model: z.string().nullable(),
  config_sha256: z.string().nullable(),
  paths: z.array(z.string()),
});

/** What a job of a batch was answered, and the files that its evidence is of. */
export type Answer = z.infer<typeof answerSchema>;

/** The answers of a batch, in the order of its jobs. */
export async function selectAnswers(db: Queryable, batchId: string): Promise<readonly Answer[]> {
  const { rows } = await db.query(
    `select j.custom_id, j.job_id, j.state, j.error_code, r.answer, r.scope,
            coalesce(r.model_second, r.model_first) as model, r.config_sha256,
            coalesce((select jsonb_agg(distinct e.path) from nightdesk_data.evidence e
                       where e.run_id = j.run_id and e.admitted and e.kind <> 'output'), '[]') as paths
       from nightdesk_data.jobs j left join nightdesk_data.runs r on r.run_id = j.run_id
      where j.batch_id = $1 order by j.seq`,
    [batchId],
  );
  return z.array(answerSchema).parse(rows);
}
