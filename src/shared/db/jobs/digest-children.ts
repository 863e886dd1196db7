import { z } from "zod";
import { JOB_STATES, KINDS } from "../../job.ts";
import type { Queryable } from "../database.ts";

const leftOutSchema = z.object({
  path: z.string(),
  kind: z.string(),
  state: z.string(),
  error_code: z.string().nullable(),
  job_id: z.string(),
});

const childSchema = z.array(
  z.object({
    job_id: z.string(),
    kind: z.enum(KINDS),
    state: z.enum(JOB_STATES),
    error_code: z.string().nullable(),
    path: z.string(),
    answer: z.string().nullable(),
    fields: z.record(z.string(), z.unknown()).nullable(),
    left_out: z.array(leftOutSchema).nullable(),
  }),
);
export type ChildRow = z.infer<typeof childSchema>[number];

/**
 * The jobs that a digest is of, with what they gave: files by path, then digests by what they are of. The order depends
 * on nothing else, so that equal answers make equal prompts.
 */
export async function selectDigestChildren(
  db: Queryable,
  parentId: string,
): Promise<readonly ChildRow[]> {
  const { rows } = await db.query(
    `select j.job_id, j.kind, j.state, j.error_code,
            coalesce(j.input->>'path', j.input->>'title', j.custom_id) as path, r.answer,
            case when j.kind = 'extract' then r.summary end as fields,
            case when j.kind = 'digest' then r.summary->'failed' end as left_out
       from nightdesk_data.job_dependencies d
       join nightdesk_data.jobs j on j.job_id = d.child_id
       left join nightdesk_data.runs r on r.run_id = j.run_id and r.state = 'succeeded'
      where d.parent_id = $1
      order by j.kind = 'digest', coalesce(j.input->>'path', j.input->>'title', j.custom_id) collate "C", j.kind, j.seq`,
    [parentId],
  );
  return childSchema.parse(rows);
}
