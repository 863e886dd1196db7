import { z } from "zod";
import { KINDS } from "../job/job.ts";
import type { Queryable } from "../store/connection/database.ts";
import { rowOf } from "../store/connection/rows.ts";
import { countOf } from "./quantity.ts";

const openSchema = z.object({
  batch_id: z.string(),
  batch: z.string(),
  custom_id: z.string(),
  kind: z.enum(KINDS),
  input: z.record(z.string(), z.unknown()),
  state: z.enum(["queued", "running", "parked"]),
  hold_reason: z.string().nullable(),
  open_checks: z.number(),
  error_message: z.string().nullable(),
  steps: z.array(z.string()).nullable(),
});
/** A job that has not ended, and the steps of its current run. */
export type OpenJob = z.infer<typeof openSchema>;

/** @param id a UUID of a job, or of its current run */
export const selectOpenJob = (db: Queryable, id: string): Promise<OpenJob | undefined> =>
  rowOf(db, openSchema, [id])`
     select j.batch_id, b.name as batch, j.custom_id, j.kind, j.input, j.state, b.hold_reason,
            case when j.run_id is null then 0 else j.waits_for end as open_checks, j.error_message,
            p.progress -> 'steps' as steps
       from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id)
       left join nightdesk_data.job_progress p using (job_id)
      where (j.job_id = $1 or j.run_id = $1) and j.finished_at is null`;

/** What a job does now, or waits for, in one line. */
export function formatOpenJob(job: OpenJob): string {
  switch (job.state) {
    case "running":
      return job.steps?.at(-1) ?? "begins";
    case "parked":
      return job.error_message ?? "waits";
    case "queued":
      if (job.open_checks > 0) return `verifies: ${countOf(job.open_checks, "check")} to go`;
      return job.hold_reason === null ? "waits for a worker" : `held: ${job.hold_reason}`;
  }
}
