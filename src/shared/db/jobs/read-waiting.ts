import { z } from "zod";
import { JOB_STATES, KINDS } from "../../job.ts";
import type { Queryable } from "../database.ts";
import { isDue } from "./due.ts";
import { HOLD_REASONS } from "./holds.ts";

const waitingSchema = z
  .object({
    job_id: z.string(),
    custom_id: z.string(),
    kind: z.enum(KINDS),
    state: z.enum(JOB_STATES),
    run_id: z.string().nullable(),
    error_code: z.string().nullable(),
    error_message: z.string().nullable(),
    due_in_s: z.coerce.number().nullable(),
    progress: z.record(z.string(), z.unknown()).nullable(),
    hold_reason: z.enum(HOLD_REASONS).nullable(),
    hold_until: z.date().nullable(),
    batch_state: z.string(),
  })
  .transform((row) => ({
    jobId: row.job_id,
    customId: row.custom_id,
    kind: row.kind,
    state: row.state,
    runId: row.run_id,
    code: row.error_code,
    message: row.error_message,
    dueInSeconds: row.due_in_s,
    progress: row.progress,
    holdReason: row.hold_reason,
    holdUntil: row.hold_until,
    batchState: row.batch_state,
  }));

/** What somebody who waits for a job wants to know of it. `dueInSeconds` is null for a job held back while its batch loads. */
export type WaitingJob = z.infer<typeof waitingSchema>;

/** The jobs of a small batch, in order: an ad-hoc command's own, and what its worker added. */
export async function selectWaitingJobs(
  db: Queryable,
  batchId: string,
): Promise<readonly WaitingJob[]> {
  const { rows } = await db.query(
    `select j.job_id, j.custom_id, j.kind, j.state, j.run_id, j.error_code, j.error_message,
            case when ${isDue("j.due_at")} then 0
                 when isfinite(j.due_at) then greatest(0, extract(epoch from j.due_at - clock_timestamp())) end
              as due_in_s,
            j.progress, b.hold_reason, b.hold_until, b.state as batch_state
       from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id)
      where j.batch_id = $1 order by j.seq limit 100`,
    [batchId],
  );
  return z.array(waitingSchema).parse(rows);
}
