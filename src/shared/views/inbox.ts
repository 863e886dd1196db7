import { z } from "zod";
import { Failure } from "../failure.ts";
import { KINDS } from "../job/job.ts";
import { isRecord, parseJson } from "../schema/json-value.ts";
import { isWaiting } from "../store/investigations/approvals.ts";
import type { Queryable } from "../store/connection/database.ts";
import { oneRowOf, rowOf, rowsOf, valueOf } from "../store/connection/rows.ts";

const count = z.coerce.number();
const json = z.record(z.string(), z.unknown());
/** The job that waits for a decision. */
const job = {
  job_id: z.string(),
  custom_id: z.string(),
  batch_id: z.string(),
  batch: z.string(),
};
/** A time in JSON that PostgreSQL wrote. */
const moment = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
const APPROVAL_STATES = ["waiting", "approved", "denied", "expired", "withdrawn"] as const;

const call = {
  approval_id: z.string(),
  fingerprint: z.string(),
  tool: z.string(),
  executor: z.string(),
  args: json,
  risks: z.array(z.string()),
  preview: z.string(),
  state: z.enum(APPROVAL_STATES),
};

const groupSchema = z.object({
  ...call,
  requests: count,
  batches: z.array(z.object({ batch_id: z.string(), batch: z.string(), requests: count })),
  oldest_at: z.date(),
  /** When the first of the requests expires. */
  expires_at: z.date(),
  decided_by: z.string().nullable(),
});

/** Requests for the same call, which one decision answers; the oldest request represents them. */
export type ApprovalGroup = z.infer<typeof groupSchema>;

type ApprovalFilter = {
  /** Null for all batches. */
  readonly batchId: string | null;
  /** all: also answered, expired and withdrawn requests. */
  readonly which: "waiting" | "all";
  /** Limit of groups. */
  readonly limit: number;
  /** Null or absent for all tools. */
  readonly tool?: string | null;
};

const IS_WAITING = isWaiting("a");

/** Groups of requests by call, state and decision: waiting ones first, then the largest groups. */
export const selectApprovalGroups = (
  db: Queryable,
  { batchId, which, limit, tool = null }: ApprovalFilter,
): Promise<readonly ApprovalGroup[]> =>
  rowsOf(db, groupSchema, [batchId, which === "all", limit, tool])`
     with asked as materialized (
       select a.approval_id, a.fingerprint, case when ${IS_WAITING} or a.state <> 'waiting' then a.state else 'expired' end as state,
              a.decision_id, a.requested_at, a.expires_at, j.batch_id
         from nightdesk_data.approvals a join nightdesk_data.jobs j using (job_id)
        where (${IS_WAITING} or $2) and ($1::uuid is null or j.batch_id = $1)
          and ($4::text is null or a.tool = $4)),
     shown as materialized (
       select fingerprint, state, decision_id, count(*) as requests, min(requested_at) as oldest_at,
              min(expires_at) as expires_at, (array_agg(approval_id order by requested_at, approval_id))[1] as approval_id
         from asked group by 1, 2, 3
        order by state <> 'waiting', count(*) desc, min(requested_at), fingerprint limit $3)
     select a.approval_id, a.fingerprint, a.tool, a.executor, a.args, a.risks, a.preview, g.state, g.requests, b.batches,
            g.oldest_at, g.expires_at, d.decided_by
       from shown g join nightdesk_data.approvals a using (approval_id)
       left join nightdesk_data.decisions d on d.decision_id = a.decision_id
      cross join lateral (
        select jsonb_agg(jsonb_build_object('batch_id', batch_id, 'batch', name, 'requests', requests)
                         order by requests desc, name) as batches
          from (select batch_id, count(*) as requests from asked k
                 where k.fingerprint = g.fingerprint and k.state = g.state
                   and k.decision_id is not distinct from g.decision_id group by 1) n
          join nightdesk_data.batches using (batch_id)) b
      order by g.state <> 'waiting', g.requests desc, g.oldest_at, g.fingerprint`;

const waitingSchema = z.object({ requests: count, calls: count });

/** How many requests wait, and for how many distinct calls. */
export const countWaiting = (
  db: Queryable,
  batchId: string | null,
): Promise<z.infer<typeof waitingSchema>> =>
  oneRowOf(db, waitingSchema, [batchId])`
     select count(*) as requests, count(distinct a.fingerprint) as calls
       from nightdesk_data.approvals a join nightdesk_data.jobs j using (job_id)
      where ${IS_WAITING} and ($1::uuid is null or j.batch_id = $1)`;

const decisionRow = {
  decision_id: z.string(),
  verdict: z.enum(["approve", "deny"]),
  scope: z.enum(["once", "job", "batch", "rule"]),
  job_id: z.string().nullable(),
  custom_id: z.string().nullable(),
  batch_id: z.string().nullable(),
  batch: z.string().nullable(),
  reason: z.string().nullable(),
  decided_by: z.string(),
  hits: count,
};

const detailSchema = z.object({
  ...call,
  ...job,
  step: z.int(),
  preset: z.string().nullable(),
  requested_at: z.date(),
  expires_at: z.date(),
  decided_at: z.date().nullable(),
  decision_id: z.string().nullable(),
  /** All requests that wait for the same call, this one too, oldest first. */
  waiting: z.array(
    z.object({
      approval_id: z.string(),
      ...job,
      step: z.int(),
      requested_at: moment,
      expires_at: moment,
    }),
  ),
  /** Decisions on the same call so far, newest first. */
  history: z.array(
    z.object({
      ...decisionRow,
      decided_at: moment,
      expires_at: moment.nullable(),
      revoked_at: moment.nullable(),
    }),
  ),
});

/** A request with all that a person needs to decide. */
export type ApprovalDetail = z.infer<typeof detailSchema>;

/** One request; undefined if the id is unknown. */
export const selectApprovalDetail = (
  db: Queryable,
  approvalId: string,
): Promise<ApprovalDetail | undefined> =>
  rowOf(db, detailSchema, [approvalId])`
     select a.approval_id, a.fingerprint, a.tool, a.executor, a.args, a.risks, a.preview, a.state, a.job_id, j.custom_id,
            j.batch_id, b.name as batch, a.step, g.preset, a.requested_at, a.expires_at, a.decided_at, a.decision_id,
            (select coalesce(jsonb_agg(jsonb_build_object('approval_id', w.approval_id, 'job_id', w.job_id,
                      'custom_id', wj.custom_id, 'batch_id', wj.batch_id, 'batch', wb.name, 'step', w.step,
                      'requested_at', w.requested_at, 'expires_at', w.expires_at)
                      order by w.requested_at, w.approval_id), '[]')
               from nightdesk_data.approvals w join nightdesk_data.jobs wj using (job_id)
               join nightdesk_data.batches wb using (batch_id)
              where w.fingerprint = a.fingerprint and ${isWaiting("w")}) as waiting,
            (select coalesce(jsonb_agg(jsonb_build_object('decision_id', d.decision_id, 'verdict', d.verdict, 'scope', d.scope,
                      'job_id', d.job_id, 'custom_id', dj.custom_id, 'batch_id', d.batch_id, 'batch', db.name,
                      'reason', d.reason, 'decided_by', d.decided_by, 'hits', d.hits, 'decided_at', d.decided_at,
                      'expires_at', d.expires_at, 'revoked_at', d.revoked_at)
                      order by d.decided_at desc, d.decision_id), '[]')
               from nightdesk_data.decisions d left join nightdesk_data.jobs dj on dj.job_id = d.job_id
               left join nightdesk_data.batches db on db.batch_id = d.batch_id
              where d.fingerprint = a.fingerprint) as history
       from nightdesk_data.approvals a join nightdesk_data.jobs j using (job_id)
       join nightdesk_data.batches b using (batch_id)
       left join nightdesk_data.grants g on g.job_id = a.job_id
      where a.approval_id = $1`;

const standingSchema = z.object({
  ...decisionRow,
  /** Set for a rule that matches more than one fingerprint. */
  rule: json.nullable(),
  tool: z.string().nullable(),
  preview: z.string().nullable(),
  decided_at: z.date(),
  expires_at: z.date().nullable(),
  revoked_at: z.date().nullable(),
});

/** A decision that answers future requests. `hits` counts the requests that it answered. */
export type StandingRow = z.infer<typeof standingSchema>;

/**
 * Decisions in force, newest first: rules, and those for a job or a batch that has not ended. `all` adds expired and
 * revoked ones, and those of ended jobs and batches.
 */
export const selectDecisions = (
  db: Queryable,
  which: "standing" | "all",
): Promise<readonly StandingRow[]> =>
  rowsOf(db, standingSchema, [which === "all"])`
     select d.decision_id, d.verdict, d.scope, d.job_id, j.custom_id, d.batch_id, b.name as batch, d.reason, d.decided_by,
            d.hits, d.rule, a.tool, a.preview, d.decided_at, d.expires_at, d.revoked_at
       from nightdesk_data.decisions d
       left join nightdesk_data.jobs j on j.job_id = d.job_id
       left join nightdesk_data.batches b on b.batch_id = coalesce(d.batch_id, j.batch_id)
       left join lateral (
         select tool, preview from nightdesk_data.approvals a where a.decision_id = d.decision_id
          order by a.requested_at limit 1) a on true
      where d.scope <> 'once'
        and ($1 or d.revoked_at is null and (d.expires_at is null or d.expires_at > clock_timestamp())
                   and (d.scope = 'rule' or j.job_id is not null and j.finished_at is null
                        or d.scope = 'batch' and b.finished_at is null))
      order by d.decided_at desc, d.decision_id`;

/** How many jobs of a batch wait for a person: for an approval, or a review. */
export const countJobsWaiting = (db: Queryable, batchId: string): Promise<number> =>
  valueOf(db, count, [batchId])`
     select count(*) as jobs from nightdesk_data.jobs where batch_id = $1 and waiting_for in ('approval', 'review')`;

const batchWaitingSchema = z.object({
  answers: count,
  uncertain: count,
  values: count,
  write_error: z.string().nullable(),
});

/** What waits for a person in a batch. */
export type BatchWaiting = z.infer<typeof batchWaitingSchema> & {
  readonly groups: readonly ApprovalGroup[];
  /** All waiting approval requests, also those of groups beyond the limit. */
  readonly requests: number;
  /** Distinct calls that wait. */
  readonly calls: number;
};

/**
 * What waits for a person in a batch, the calls with most requests first. `answers` need a review. `uncertain` calls have
 * an unknown outcome, which a person has to report. `values` were withheld from the write-back. `write_error` is the error
 * of the write-back that the end of the batch started, until a later write-back begins. @param limit of the groups of calls
 */
export const selectBatchWaiting = async (
  db: Queryable,
  batchId: string,
  limit: number,
): Promise<BatchWaiting> => ({
  groups: await selectApprovalGroups(db, { batchId, which: "waiting", limit }),
  ...(await countWaiting(db, batchId)),
  ...(await oneRowOf(db, batchWaitingSchema, [batchId])`
     select count(v.job_id) as answers, count(*) - count(v.job_id) as uncertain,
            (select count(*) from nightdesk_data.write_backs w where w.batch_id = $1 and w.is_waiting) as values,
            (select case when h.state in ('failed', 'pending') then h.error end from nightdesk.hooks h
              where h.batch_id = $1 and h.target = 'write_back'
                and not exists (select from nightdesk_data.write_backs w where w.batch_id = $1 and w.noted_at > h.ended_at)
              order by h.happened_at desc limit 1) as write_error
       from nightdesk_data.jobs j
       left join nightdesk_data.draft_reviews v on v.job_id = j.job_id and v.state = 'waiting'
      where j.batch_id = $1 and j.waiting_for = 'review'`),
});

const uncertainSchema = z.object({
  ...job,
  job_state: z.string(),
  step: z.int(),
  tool: z.string(),
  args: json,
  started_at: z.date(),
});

/** A call with an unknown outcome: its worker was lost during the call. */
export type UncertainStep = z.infer<typeof uncertainSchema>;

/** Steps whose outcome a person has to report, oldest first. */
export const selectUncertainSteps = (
  db: Queryable,
  batchId: string | null,
  limit: number,
): Promise<readonly UncertainStep[]> =>
  rowsOf(db, uncertainSchema, [batchId, limit])`
     select s.job_id, j.custom_id, j.batch_id, b.name as batch, j.state as job_state, s.ordinal as step, t.name as tool,
            t.args, s.started_at
       from nightdesk_data.steps s join nightdesk_data.jobs j using (job_id)
       join nightdesk_data.batches b using (batch_id)
       join nightdesk_data.tool_calls t on t.job_id = s.job_id and t.step = s.ordinal
      where s.state = 'uncertain' and ($1::uuid is null or j.batch_id = $1)
      order by s.started_at, s.job_id limit $2`;

const reviewSchema = z.object({
  ...job,
  kind: z.enum(KINDS),
  run_id: z.string(),
  input: json,
  state: z.string(),
  why: z.string(),
  draft: z.string(),
  correction: z.string().nullable(),
  facts: z.array(z.string()),
  reason: z.string().nullable(),
  requested_at: z.date(),
  decided_by: z.string().nullable(),
  decided_at: z.date().nullable(),
});
export type ReviewRow = z.infer<typeof reviewSchema>;

type ReviewFilter = {
  readonly batchId: string | null;
  readonly which: "waiting" | "decided" | "all";
  readonly jobId?: string;
  readonly limit: number;
};

/** Answers that need a review, oldest first. If the job has ended for another reason, its answer does not wait any more. */
export const selectReviews = (
  db: Queryable,
  { batchId, which, jobId, limit }: ReviewFilter,
): Promise<readonly ReviewRow[]> =>
  rowsOf(db, reviewSchema, [batchId, which, jobId ?? null, limit])`
     select v.job_id, v.custom_id, v.batch_id, v.batch, v.kind, v.run_id, j.input, v.state, v.why, v.draft, v.correction, v.facts, v.reason,
            v.requested_at, v.decided_by, v.decided_at
       from nightdesk.reviews v join nightdesk_data.jobs j using (job_id)
      where ($1::uuid is null or v.batch_id = $1) and ($3::uuid is null or v.job_id = $3)
        and case $2 when 'waiting' then v.state = 'waiting' and j.waiting_for is not distinct from 'review'
                    when 'decided' then v.state <> 'waiting' else true end
      order by v.requested_at, v.job_id limit $4`;

/** @throws Failure INPUT_INVALID if the correction is no answer for this kind of job */
export function assertCorrection({ kind }: Pick<ReviewRow, "kind">, correction: string): void {
  if (kind !== "extract" || isRecord(parseJson(correction))) return;
  throw new Failure(
    "INPUT_INVALID",
    'The answer of an extraction is its fields, as a JSON object like {"total": 1250}.',
  );
}
