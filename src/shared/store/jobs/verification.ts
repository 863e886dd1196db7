import { z } from "zod";
import { hashJson } from "../../schema/json-value.ts";
import { UNRESOLVED_REASONS } from "../../job/verification.ts";
import type { StoredCheck, StoredVerification, Verdict } from "../../job/verification.ts";
import type { CheckBudget, QueuedCheck } from "../../job/settlement.ts";
import type { Queryable } from "../connection/database.ts";
import { camelRow, rowsOf, valuesOf } from "../connection/rows.ts";
import { setBatchBudget } from "../hosts/budgets.ts";
import { notifyJobs } from "./batches.ts";
import { insertDependencies } from "./dependencies.ts";
import { selectReview } from "./draft-reviews.ts";
import { insertJobs } from "./insert-jobs.ts";
import { runTable, tableOfJob } from "./run-tables.ts";

/** Tables for the verification of a run's answer. */
export const VERIFICATION = [
  runTable(
    `round int, ordinal int, draft_sha256 text, claim_number int, claim text, question text, expects text, how text,
     rule text, state text, detail text, reason text, evidence jsonb`,
    ({ verification }) => verification.checks,
    (names, rows) => `
asked as (
  insert into nightdesk_data.checks (job_id, ${names}, check_job_id)
  select job.job_id, c.*, q.job_id
    from job cross join ${rows}
    left join nightdesk_data.jobs q on c.how = 'model' and q.kind = 'check'
          and q.custom_id = job.job_id || '.' || c.round || '.' || c.ordinal
  on conflict (job_id, round, ordinal) do update
     set state = excluded.state, detail = excluded.detail, reason = excluded.reason, evidence = excluded.evidence)`,
  ),
  tableOfJob(
    "audits",
    "round int, score int, given int, caps text[], corrections jsonb, readable boolean",
    { key: "round", changes: ["score", "given", "caps", "corrections", "readable"] },
    ({ verification }) =>
      verification.audits.map((audit) => {
        return { ...audit, readable: audit.score !== null };
      }),
  ),
  tableOfJob(
    "constraints",
    "ordinal int, what text, needed text, reason text, resolved_at timestamptz",
    { key: "ordinal", changes: ["what", "needed", "reason", "resolved_at"] },
    ({ verification }) =>
      verification.constraints.map((constraint, ordinal) => {
        return { ...constraint, ordinal, resolvedAt: null };
      }),
  ),
  tableOfJob(
    "coverage",
    "round int, claim_number int, claim text, set_query text, members int, read int",
    { key: "round, claim_number", changes: ["members", "read"] },
    ({ verification }) => verification.coverage,
  ),
] as const;

/** A job with a draft whose checks must be queued. */
type DraftedJob = { readonly jobId: string; readonly batchId: string };
type DraftedChecks = {
  readonly checks: readonly QueuedCheck[];
  readonly budget: CheckBudget;
  /** Added to the priority of their batch. */
  readonly priority: number;
};

/**
 * Queues the checks of an answer in a batch of checks beside the job's batch; the job then waits for them. To be called in the
 * transaction that settles the run as drafted, which locks the job. Existing checks stay.
 * @throws Failure CANCELLED when the batch was closed
 */
export async function queueChecks(
  db: Queryable,
  { jobId, batchId }: DraftedJob,
  { checks, budget, priority }: DraftedChecks,
): Promise<void> {
  const checksBatchId = await openBatchBeside(db, batchId, "checks");
  if (checksBatchId === undefined) return;
  // With verify's own budget: the configured budgets are for jobs that users queue.
  await setBatchBudget(db, checksBatchId, { ...budget, seconds: null });
  const customIds = checks.map(({ round, ordinal }) => `${jobId}.${round}.${ordinal}`);
  await insertJobs(
    db,
    checksBatchId,
    checks.map(({ input }, at) => ({
      customId: customIds[at] ?? "",
      input,
      inputSha256: hashJson(input),
      priority,
      affinity: input.options?.model ?? "",
    })),
  );
  const queued = await valuesOf(db, z.string(), [checksBatchId, customIds])`
     select job_id from nightdesk_data.jobs where batch_id = $1 and custom_id = any($2::text[])`;
  await insertDependencies(
    db,
    queued.map((childId) => ({ parentId: jobId, childId })),
  );
  await notifyJobs(db);
}

/**
 * Opens the batch of checks, or of an exam, beside a user's batch. It has the same windows, and is paused and closed together
 * with it.
 * @returns undefined when the user's batch was closed
 */
export async function openBatchBeside(
  db: Queryable,
  batchId: string,
  of: "checks" | "exam",
): Promise<string | undefined> {
  const [ownBatchId] = await valuesOf(db, z.string(), [batchId, of])`
     insert into nightdesk_data.batches (name, origin, state, parent_id, windows, deadline_at, priority, paused_at, trace_context)
     select $2 || ' ' || batch_id, 'verify', 'open', batch_id, windows, deadline_at, priority, paused_at, trace_context
       from nightdesk_data.batches where batch_id = $1 and state in ('open', 'completed')
     on conflict (name)
     do update set state = 'open', finished_at = null where batches.state in ('open', 'completed') and batches.origin = 'verify'
     returning batch_id`;
  return ownBatchId;
}

const placeSchema = z.object({
  path: z.string(),
  line_start: z.int(),
  line_end: z.int(),
  quote: z.string().nullable(),
});

/** The result of a job of kind `check`, stored as `runs.summary`. */
const verdictSchema: z.ZodType<Verdict> = z.object({
  answer: z.enum(["yes", "no", "unknown"]),
  detail: z.string(),
  reason: z.enum(UNRESOLVED_REASONS).nullable(),
  evidence: z.array(placeSchema),
  against: z.array(z.object({ rule: z.string(), detail: z.string() })),
});

/** The row of a check, with the state and result of its job. */
export const checkRowSchema = z.object({
  round: z.int(),
  ordinal: z.int(),
  draft_sha256: z.string(),
  claim_number: z.int(),
  claim: z.string(),
  question: z.string(),
  expects: z.enum(["yes", "no"]),
  how: z.enum(["rule", "model"]),
  rule: z.string().nullable(),
  state: z.enum(["open", "yes", "no", "unknown"]),
  detail: z.string(),
  reason: z.enum(UNRESOLVED_REASONS).nullable(),
  check_job_id: z.string().nullable(),
  evidence: z.array(placeSchema),
  job_state: z.string().nullable(),
  job_error: z.string().nullable(),
  verdict: z.unknown(),
});

/** Converts a row to the form that the verification uses. */
const storedCheckSchema = camelRow(checkRowSchema.shape).transform(
  ({ jobState, jobError, verdict, ...record }): StoredCheck => ({
    record,
    jobState,
    jobError,
    verdict: verdictSchema.safeParse(verdict).data ?? null,
  }),
);

export const coverageRowSchema = z.object({
  round: z.int(),
  claim_number: z.int(),
  claim: z.string(),
  set_query: z.string(),
  members: z.int(),
  read: z.int(),
});

const coverageSchema = camelRow(coverageRowSchema.shape);
const auditSchema = z.object({ round: z.int(), caps: z.array(z.string()) });

export async function selectVerification(
  db: Queryable,
  jobId: string,
): Promise<StoredVerification> {
  const checks = await selectChecks(db, jobId);
  const review = await selectReview(db, jobId);
  if (checks.length === 0) return { checks, coverage: [], audits: [], review };
  const coverage = await rowsOf(db, coverageSchema, [jobId])`
     select round, claim_number, claim, set_query, members, read from nightdesk_data.coverage
      where job_id = $1 order by round, claim_number`;
  const audits = await rowsOf(db, auditSchema, [jobId])`
     select round, caps from nightdesk_data.audits where job_id = $1 order by round`;
  return { checks, coverage, audits, review };
}

const selectChecks = (db: Queryable, jobId: string): Promise<readonly StoredCheck[]> =>
  rowsOf(db, storedCheckSchema, [jobId])`
     select c.round, c.ordinal, c.draft_sha256, c.claim_number, c.claim, c.question, c.expects, c.how, c.rule, c.state,
            c.detail, c.reason, c.check_job_id, c.evidence, j.state as job_state, j.error_code as job_error,
            r.summary as verdict
       from nightdesk_data.checks c
       left join nightdesk_data.jobs j on j.job_id = c.check_job_id
       left join nightdesk_data.runs r on r.run_id = j.run_id and r.state = 'succeeded'
      where c.job_id = $1 order by c.round, c.ordinal`;
