import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { rowOf, valueOf, valuesOf } from "../connection/rows.ts";
import { JOBS_CHANNEL } from "../jobs/batches.ts";
import { DUE_AT_ONCE } from "./approvals.ts";
import { STEP_STATES } from "./steps.ts";
import type { StepState } from "./steps.ts";

/** A person's finding about a call during which a worker was lost. */
export type Finding = {
  /** done: the call had its effect; its result is lost. skipped: it had none, and may be made again. */
  readonly state: "done" | "skipped";
  readonly decidedBy: string;
};

const stepSchema = z.object({ state: z.enum(STEP_STATES), by: z.string().nullable() });

/** late: the step is not, or no longer, uncertain; `by` is the person who resolved it, if any. */
export type StepResolution =
  | { readonly kind: "resolved" }
  | { readonly kind: "late"; readonly state: StepState; readonly by: string | null }
  | { readonly kind: "unknown" };

/**
 * Resolves a step whose effect is unknown. If it happened, the model reads that its result is lost; if not, it is skipped, and
 * the model may ask for it again. The job becomes due at once.
 */
export async function resolveStep(
  db: Queryable,
  jobId: string,
  ordinal: number,
  { state, decidedBy }: Finding,
): Promise<StepResolution> {
  const values = [jobId, ordinal, state, decidedBy, tellModel(decidedBy)];
  if (await valueOf(db, z.boolean(), values)`${RESOLVE}`) return { kind: "resolved" };
  const step = await rowOf(db, stepSchema, [jobId, ordinal])`
     select state, detail->>'resolved_by' as by from nightdesk_data.steps where job_id = $1 and ordinal = $2`;
  return step === undefined ? { kind: "unknown" } : { kind: "late", ...step };
}

const tellModel = (decidedBy: string): string =>
  `A worker was lost during this call. ${decidedBy} looked, and says that it was carried out; what it gave is lost.`;

const RESOLVE = `
with unsure as materialized (
  select s.job_id, s.ordinal from nightdesk_data.steps s join nightdesk_data.jobs j using (job_id)
   where s.job_id = $1 and s.ordinal = $2 and s.state = 'uncertain' for no key update of j, s),
settled as (
  update nightdesk_data.steps s
     set state = $3, ended_at = clock_timestamp(), detail = s.detail || jsonb_build_object('resolved_by', $4::text)
    from unsure where s.job_id = unsure.job_id and s.ordinal = unsure.ordinal
  returning s.job_id),
told as (
  update nightdesk_data.tool_calls t set error_code = 'WORKER_LOST', error_message = $5
    from unsure where $3 = 'done' and t.job_id = unsure.job_id and t.step = unsure.ordinal),
woken as (
  update nightdesk_data.jobs j set ${DUE_AT_ONCE}
    from unsure where j.job_id = unsure.job_id and j.state = 'parked' and j.waiting_for = 'review'
  returning j.job_id)
select exists (select from settled) as is_resolved,
       case when exists (select from woken) then pg_notify('${JOBS_CHANNEL}', '') end`;

/** The job with this id, or the job of the run with this id; undefined when there is neither. */
export async function selectJobOf(db: Queryable, jobOrRunId: string): Promise<string | undefined> {
  const [jobId] = await valuesOf(db, z.string(), [jobOrRunId])`
     select job_id from nightdesk_data.jobs where job_id = $1
      union select job_id from nightdesk_data.runs where run_id = $1`;
  return jobId;
}
