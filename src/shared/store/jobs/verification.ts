import { z } from "zod";
import { hashJson } from "../../json-value.ts";
import type { RunResult } from "../../run-result.ts";
import { UNRESOLVED_REASONS } from "../../verification.ts";
import type {
  CheckPlace,
  CheckRecord,
  CoverageRecord,
  StoredCheck,
  StoredVerification,
  Verdict,
} from "../../verification.ts";
import type { CheckBudget, QueuedCheck } from "../../settlement.ts";
import type { Queryable } from "../connection/database.ts";
import { setBatchBudget } from "../hosts/budgets.ts";
import { notifyJobs } from "./batches.ts";
import { insertDependencies } from "./dependencies.ts";
import { selectReview } from "./draft-reviews.ts";
import { insertJobs } from "./insert-jobs.ts";

type Verified = Pick<RunResult, "verification">;

/** What a run leaves behind of the verification of its answer. Rows of the job: a later run writes what has become of them. */
export const VERIFICATION = [
  {
    rowsOf: ({ verification }: Verified): readonly object[] => verification.checks.map(checkRow),
    insert: (rows: string) => `
asked as (
  insert into nightdesk_data.checks (job_id, round, ordinal, draft_sha256, claim_number, claim, question, expects, how, rule,
         state, detail, reason, evidence, check_job_id)
  select job.job_id, c.*, q.job_id
    from job cross join jsonb_to_recordset(${rows}) as c (round int, ordinal int, draft_sha256 text, claim_number int, claim text,
         question text, expects text, how text, rule text, state text, detail text, reason text, evidence jsonb)
    left join nightdesk_data.jobs q on c.how = 'model' and q.kind = 'check'
          and q.custom_id = job.job_id || '.' || c.round || '.' || c.ordinal
  on conflict (job_id, round, ordinal) do update
     set state = excluded.state, detail = excluded.detail, reason = excluded.reason, evidence = excluded.evidence)`,
  },
  {
    rowsOf: ({ verification }: Verified): readonly object[] =>
      verification.judgements.map(({ round, score, given, caps, corrections }) => {
        return { round, score, given, caps, corrections, readable: score !== null };
      }),
    insert: (rows: string) => `
judged as (
  insert into nightdesk_data.judgements (job_id, round, score, given, caps, corrections, readable)
  select job.job_id, g.* from job, jsonb_to_recordset(${rows}) as g (round int, score int, given int, caps text[],
         corrections jsonb, readable boolean)
  on conflict (job_id, round) do update
     set score = excluded.score, given = excluded.given, caps = excluded.caps, corrections = excluded.corrections,
         readable = excluded.readable)`,
  },
  {
    rowsOf: ({ verification }: Verified): readonly object[] =>
      verification.constraints.map((constraint, ordinal) => ({ ordinal, ...constraint })),
    insert: (rows: string) => `
missing as (
  insert into nightdesk_data.constraints (job_id, ordinal, what, needed, reason)
  select job.job_id, m.* from job, jsonb_to_recordset(${rows}) as m (ordinal int, what text, needed text, reason text)
  on conflict (job_id, ordinal) do update
     set what = excluded.what, needed = excluded.needed, reason = excluded.reason, resolved_at = null)`,
  },
  {
    rowsOf: ({ verification }: Verified): readonly object[] =>
      verification.coverage.map(({ claimNumber, setQuery, ...coverage }) => {
        return { ...coverage, claim_number: claimNumber, set_query: setQuery };
      }),
    insert: (rows: string) => `
covered as (
  insert into nightdesk_data.coverage (job_id, round, claim_number, claim, set_query, members, read)
  select job.job_id, v.* from job, jsonb_to_recordset(${rows}) as v (round int, claim_number int, claim text, set_query text,
         members int, read int)
  on conflict (job_id, round, claim_number) do update set members = excluded.members, read = excluded.read)`,
  },
] as const;

const checkRow = (check: CheckRecord) => ({
  round: check.round,
  ordinal: check.ordinal,
  draft_sha256: check.draftSha256,
  claim_number: check.claimNumber,
  claim: check.claim,
  question: check.question,
  expects: check.expects,
  how: check.how,
  rule: check.rule,
  state: check.state,
  detail: check.detail,
  reason: check.reason,
  evidence: check.evidence,
});

const batchSchema = z.array(z.object({ batch_id: z.string() }));

/** A draft whose checks are to be queued. */
type DraftedJob = { readonly jobId: string; readonly batchId: string };
type DraftedChecks = {
  readonly checks: readonly QueuedCheck[];
  readonly budget: CheckBudget;
  /** Added to that of their batch. */
  readonly priority: number;
};

/**
 * Queues the checks of an answer in the batch of checks beside that of the job, which waits for them from then on. To be
 * called in the transaction that ends the run as drafted, which holds the job. Those that are there already stay.
 * @throws Failure CANCELLED where the batch was closed
 */
export async function queueChecks(
  db: Queryable,
  { jobId, batchId }: DraftedJob,
  { checks, budget, priority }: DraftedChecks,
): Promise<void> {
  const { rows } = await db.query(
    `insert into nightdesk_data.batches (name, origin, state, parent_id, windows, deadline_at, priority, paused_at, trace_context)
     select 'checks ' || batch_id, 'verify', 'open', batch_id, windows, deadline_at, priority, paused_at, trace_context
       from nightdesk_data.batches where batch_id = $1 and state in ('open', 'completed')
     on conflict (parent_id) where origin = 'verify'
     do update set state = 'open', finished_at = null where batches.state in ('open', 'completed')
     returning batch_id`,
    [batchId],
  );
  const [batch] = batchSchema.parse(rows);
  if (batch === undefined) return;
  // The budget of the desk is for what people queue.
  await setBatchBudget(db, batch.batch_id, { ...budget, seconds: null });
  const customIds = checks.map(({ round, ordinal }) => `${jobId}.${round}.${ordinal}`);
  await insertJobs(
    db,
    batch.batch_id,
    checks.map(({ input }, at) => ({
      customId: customIds[at] ?? "",
      input,
      inputSha256: hashJson(input),
      priority,
      affinity: input.options?.model ?? "",
    })),
  );
  const queued = await db.query(
    "select job_id from nightdesk_data.jobs where batch_id = $1 and custom_id = any($2::text[])",
    [batch.batch_id, customIds],
  );
  await insertDependencies(
    db,
    jobsSchema.parse(queued.rows).map(({ job_id }) => ({ parentId: jobId, childId: job_id })),
  );
  await notifyJobs(db);
}

const jobsSchema = z.array(z.object({ job_id: z.string() }));

const placeSchema = z.object({
  path: z.string(),
  line_start: z.int(),
  line_end: z.int(),
  quote: z.string().nullable(),
});

/** What a job of kind `check` gives, as `runs.summary`. */
const verdictSchema: z.ZodType<Verdict> = z.object({
  answer: z.enum(["yes", "no", "unknown"]),
  detail: z.string(),
  reason: z.enum(UNRESOLVED_REASONS).nullable(),
  evidence: z.array(placeSchema),
});

/** A check as a row, with what became of its job. */
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

/** A check of rows as the stage takes it. */
const storedCheck = (row: z.infer<typeof checkRowSchema>): StoredCheck => ({
  record: {
    round: row.round,
    ordinal: row.ordinal,
    draftSha256: row.draft_sha256,
    claimNumber: row.claim_number,
    claim: row.claim,
    question: row.question,
    expects: row.expects,
    how: row.how,
    rule: row.rule,
    state: row.state,
    detail: row.detail,
    reason: row.reason,
    checkJobId: row.check_job_id,
    evidence: row.evidence satisfies readonly CheckPlace[],
  },
  jobState: row.job_state,
  jobError: row.job_error,
  verdict: verdictSchema.safeParse(row.verdict).data ?? null,
});

export const coverageRowSchema = z.object({
  round: z.int(),
  claim_number: z.int(),
  claim: z.string(),
  set_query: z.string(),
  members: z.int(),
  read: z.int(),
});

const coverageRecord = ({
  round,
  claim_number: claimNumber,
  claim,
  set_query: setQuery,
  members,
  read,
}: z.infer<typeof coverageRowSchema>): CoverageRecord => ({
  round,
  claimNumber,
  claim,
  setQuery,
  members,
  read,
});

const judgedSchema = z.array(z.object({ round: z.int(), caps: z.array(z.string()) }));

export async function selectVerification(
  db: Queryable,
  jobId: string,
): Promise<StoredVerification> {
  const checks = await selectChecks(db, jobId);
  const review = await selectReview(db, jobId);
  if (checks.length === 0) return { checks, coverage: [], judgements: [], review };
  const { rows } = await db.query(
    `select round, claim_number, claim, set_query, members, read from nightdesk_data.coverage
      where job_id = $1 order by round, claim_number`,
    [jobId],
  );
  const judged = await db.query(
    "select round, caps from nightdesk_data.judgements where job_id = $1 order by round",
    [jobId],
  );
  return {
    checks,
    coverage: z.array(coverageRowSchema).parse(rows).map(coverageRecord),
    judgements: judgedSchema.parse(judged.rows),
    review,
  };
}

async function selectChecks(db: Queryable, jobId: string): Promise<readonly StoredCheck[]> {
  const { rows } = await db.query(
    `select c.round, c.ordinal, c.draft_sha256, c.claim_number, c.claim, c.question, c.expects, c.how, c.rule, c.state,
            c.detail, c.reason, c.check_job_id, c.evidence, j.state as job_state, j.error_code as job_error,
            r.summary as verdict
       from nightdesk_data.checks c
       left join nightdesk_data.jobs j on j.job_id = c.check_job_id
       left join nightdesk_data.runs r on r.run_id = j.run_id and r.state = 'succeeded'
      where c.job_id = $1 order by c.round, c.ordinal`,
    [jobId],
  );
  return z.array(checkRowSchema).parse(rows).map(storedCheck);
}
