import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { anyRow, camelRow, oneRowOf, rowOf } from "../connection/rows.ts";
import { guardBy } from "../connection/locks.ts";
import { JOBS_CHANNEL } from "../jobs/batches.ts";
import { HELD } from "./steps.ts";
import type { StepWriter } from "./steps.ts";

/** A call that needs a person's approval. */
export type ApprovalRequest = {
  readonly step: number;
  /** SHA-256 of tool, arguments, executor and preset, 64 hex. */
  readonly fingerprint: string;
  readonly tool: string;
  readonly executor: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Labels that warn; they have no effect on permissions. */
  readonly risks: readonly string[];
  /** Everything that the call would do, for a person to read; at most MOST_PREVIEW_CHARS characters. */
  readonly preview: string;
  readonly expiresInSeconds: number;
};

/** An earlier decision that applies to a request: for its job, for its batch, or by a rule. */
export type StandingDecision = {
  readonly decisionId: string;
  readonly verdict: "approve" | "deny";
  readonly reason: string | null;
};

const requestedSchema = camelRow({
  is_held: z.boolean(),
  decision_id: z.string().nullable(),
  verdict: z.enum(["approve", "deny"]).nullable(),
  reason: z.string().nullable(),
});

/** Most code points in the preview of a call. */
export const MOST_PREVIEW_CHARS = 4_000;

/**
 * Asks a person about the call of a waiting step, unless an earlier decision applies: for this job, its batch, or by a rule for
 * this fingerprint. An approved step is started.
 * @returns lost when the run no longer owns the job
 */
export async function requestApproval(
  db: Queryable,
  writer: StepWriter,
  request: ApprovalRequest,
): Promise<StandingDecision | "waiting" | "lost"> {
  const { isHeld, decisionId, verdict, reason } = await oneRowOf(db, requestedSchema, [
    writer.jobId,
    writer.runId,
    request.step,
    request.fingerprint,
    request.tool,
    request.executor,
    JSON.stringify(request.args),
    request.risks,
    request.preview,
    request.expiresInSeconds,
  ])`
     with ${HELD},
     standing as materialized (
       select d.decision_id, d.verdict, d.reason
         from held join nightdesk_data.decisions d on d.fingerprint = $4
        where d.revoked_at is null and (d.expires_at is null or d.expires_at > clock_timestamp())
          and (d.scope = 'job' and d.job_id = held.job_id or d.scope = 'batch' and d.batch_id = held.batch_id
               or d.scope = 'rule' and d.rule is null)
        -- A denial counts more than anything that allows the same.
        order by d.verdict = 'deny' desc, d.decided_at desc limit 1),
     counted as (
       update nightdesk_data.decisions d set hits = hits + 1
         from standing where d.decision_id = standing.decision_id),
     asked as (
       insert into nightdesk_data.approvals (job_id, step, fingerprint, tool, executor, args, risks, preview, expires_at,
              state, decision_id, decided_at)
       select held.job_id, $3, $4, $5, $6, $7, $8, $9, clock_timestamp() + make_interval(secs => $10),
              case standing.verdict when 'approve' then 'approved' when 'deny' then 'denied' else 'waiting' end,
              standing.decision_id, case when standing.decision_id is not null then clock_timestamp() end
         from held left join standing on true),
     started as (
       update nightdesk_data.steps s set state = 'started'
         from held, standing
        where s.job_id = held.job_id and s.ordinal = $3 and s.state = 'waiting' and standing.verdict = 'approve')
     select exists (select from held) as is_held, d.decision_id, d.verdict, d.reason
       from (select 1) one left join standing d on true`;
  if (!isHeld) return "lost";
  return decisionId === null || verdict === null ? "waiting" : { decisionId, verdict, reason };
}

const answerSchema = camelRow({
  fingerprint: z.string(),
  state: z.enum(["waiting", "approved", "denied", "expired", "withdrawn"]),
  reason: z.string().nullable(),
  decided_by: z.string().nullable(),
});
export type ApprovalAnswer = z.infer<typeof answerSchema>;

/** The state of a step's request; undefined when there is none. */
export const selectApproval = (
  db: Queryable,
  jobId: string,
  step: number,
): Promise<ApprovalAnswer | undefined> =>
  rowOf(db, answerSchema, [jobId, step])`
     select a.fingerprint, a.state, d.reason, d.decided_by
       from nightdesk_data.approvals a left join nightdesk_data.decisions d using (decision_id)
      where a.job_id = $1 and a.step = $2`;

/**
 * Starts a waiting step before its call is made: an approved step, or one that no longer needs approval.
 * @returns false when the run no longer owns the job, or the step waits for an answer
 */
export const startStep = (db: Queryable, writer: StepWriter, ordinal: number): Promise<boolean> =>
  anyRow(db, [writer.jobId, writer.runId, ordinal])`
     with ${HELD}
     update nightdesk_data.steps s set state = 'started'
       from held
      where s.job_id = held.job_id and s.ordinal = $3 and s.state = 'waiting'
        and not exists (select from nightdesk_data.approvals a
                         where a.job_id = s.job_id and a.step = s.ordinal and a.state <> 'approved')`;

/**
 * Withdraws a request that a rule now answers, and starts its step.
 * @returns false when the run no longer owns the job, or a person answered meanwhile
 */
export const withdrawRequest = (
  db: Queryable,
  writer: StepWriter,
  ordinal: number,
): Promise<boolean> =>
  anyRow(db, [writer.jobId, writer.runId, ordinal])`
     with ${HELD},
     ended as (
       update nightdesk_data.approvals a set state = 'withdrawn', decided_at = clock_timestamp()
         from held where a.job_id = held.job_id and a.step = $3 and a.state = 'waiting'
       returning a.job_id)
     update nightdesk_data.steps s set state = 'started'
       from ended where s.job_id = ended.job_id and s.ordinal = $3 and s.state = 'waiting'`;

/** A decision, its author and its scope. */
export type NewDecision = {
  readonly verdict: "approve" | "deny";
  readonly scope: "once" | "job" | "batch" | "rule";
  readonly reason: string | null;
  readonly decidedBy: string;
  /** For a rule; otherwise null. */
  readonly expiresInSeconds: number | null;
};

const decidedSchema = camelRow({
  decision_id: z.string().nullable(),
  answered: z.coerce.number(),
  woken: z.coerce.number(),
});

/** late: the request was answered, expired or was withdrawn before. */
export type ApprovalOutcome =
  | {
      readonly kind: "decided";
      readonly decisionId: string;
      /** The number of answered requests: all waiting ones with this fingerprint in the scope. */
      readonly answered: number;
      readonly woken: number;
    }
  | ({ readonly kind: "late" } & EarlierAnswer)
  | { readonly kind: "unknown" };

/**
 * Answers a request, and all waiting requests with its fingerprint in the scope: `once` and `rule` all of them, `job` and `batch`
 * those of the same job or batch. Of two concurrent answers the first wins. Jobs that waited for it become due at once.
 * @param batchId answer only requests of this batch; null for all batches
 */
export async function decideApproval(
  db: Queryable,
  approvalId: string,
  decision: NewDecision,
  batchId: string | null = null,
): Promise<ApprovalOutcome> {
  const { decisionId, answered, woken } = await oneRowOf(db, decidedSchema, [
    approvalId,
    decision.verdict,
    decision.scope,
    decision.reason,
    decision.decidedBy,
    decision.expiresInSeconds,
    batchId,
  ])`${DECIDE}`;
  if (decisionId !== null) return { kind: "decided", decisionId, answered, woken };
  // A second answer has waited for the first, and sees its rows only in a new statement.
  const earlier = await selectEarlierAnswer(db, approvalId);
  return earlier === undefined ? { kind: "unknown" } : { kind: "late", ...earlier };
}

/** SQL assignments that make a parked job due at once. */
export const DUE_AT_ONCE =
  "state = 'queued', waiting_for = null, due_at = clock_timestamp(), error_code = null, error_message = null";

/**
 * SQL condition: a request waits for a decision, and is not past its time, even where no worker has ended it yet.
 * @param row name or alias of `approvals`
 */
export const isWaiting = (row: string): string =>
  `(${row}.state = 'waiting' and ${row}.expires_at > clock_timestamp())`;

// Locks the jobs first, in the same order as all statements that move several jobs, each with its request: a second answer waits
// for the first job, and then finds that its request no longer waits. `aimed` is the given request: if it no longer waits,
// nothing is decided.
const DECIDE = `
with aimed as materialized (
  select a.approval_id, a.fingerprint, a.job_id, j.batch_id
    from nightdesk_data.approvals a join nightdesk_data.jobs j using (job_id)
   where a.approval_id = $1 and a.state = 'waiting'),
alike as materialized (
  select a.approval_id, a.job_id
    from aimed join nightdesk_data.approvals a using (fingerprint)
    join nightdesk_data.jobs j on j.job_id = a.job_id
   where ${isWaiting("a")}
     and ($7::uuid is null or j.batch_id = $7::uuid)
     and ($3 <> 'job' or a.job_id = aimed.job_id) and ($3 <> 'batch' or j.batch_id = aimed.batch_id)
   order by j.seq for no key update of j, a),
made as (
  insert into nightdesk_data.decisions (fingerprint, verdict, scope, job_id, batch_id, reason, decided_by, expires_at, hits)
  select fingerprint, $2, $3, case $3 when 'job' then job_id end, case $3 when 'batch' then batch_id end, $4, $5,
         clock_timestamp() + make_interval(secs => $6::double precision), (select count(*) from alike)
    from aimed where approval_id in (select approval_id from alike)
  returning decision_id),
answered as (
  update nightdesk_data.approvals a
     set state = case $2 when 'approve' then 'approved' else 'denied' end, decision_id = made.decision_id,
         decided_at = clock_timestamp()
    from made, alike where a.approval_id = alike.approval_id
  returning a.job_id),
woken as (
  update nightdesk_data.jobs j set ${DUE_AT_ONCE}
    from alike, made where j.job_id = alike.job_id and j.state = 'parked' and j.waiting_for = 'approval'
  returning j.job_id)
select (select decision_id from made) as decision_id, (select count(*) from answered) as answered,
       (select count(*) from woken) as woken,
       case when exists (select from woken) then pg_notify('${JOBS_CHANNEL}', '') end`;

const earlierSchema = camelRow({
  state: z.enum(["approved", "denied", "expired", "withdrawn"]),
  decided_by: z.string().nullable(),
  decided_at: z.date(),
});

/** The earlier end of a request; a request past its time counts as expired even before a worker ends it. */
type EarlierAnswer = z.infer<typeof earlierSchema>;

const selectEarlierAnswer = (
  db: Queryable,
  approvalId: string,
): Promise<EarlierAnswer | undefined> =>
  rowOf(db, earlierSchema, [approvalId])`
     select case a.state when 'waiting' then 'expired' else a.state end as state, d.decided_by,
            coalesce(a.decided_at, a.expires_at) as decided_at
       from nightdesk_data.approvals a left join nightdesk_data.decisions d using (decision_id)
      where a.approval_id = $1`;

const upkeepSchema = z.object({ expired: z.coerce.number(), woken: z.coerce.number() });

/** Most requests of one call, which takes some 100 ms. */
const SLICE = 2_000;

/**
 * Ends expired requests, and makes jobs due that wait for no person any more: those of expired requests, and those whose request
 * was answered at the moment when their run parked. One worker at a time.
 */
export const reconcileApprovals = (db: Queryable): Promise<z.infer<typeof upkeepSchema>> =>
  oneRowOf(db, upkeepSchema)`
     with ${guardBy("approvals")},
     over as materialized (
       select a.approval_id, a.job_id from guard, nightdesk_data.approvals a
        where guard.held and a.state = 'waiting' and a.expires_at <= clock_timestamp()
        order by a.expires_at limit ${SLICE}),
     free as materialized (
       select j.job_id from guard, nightdesk_data.jobs j
        where guard.held and j.waiting_for in ('approval', 'review') and j.state = 'parked'
          and case j.waiting_for
                when 'approval' then
                  j.job_id in (select job_id from over)
                  or not exists (select from nightdesk_data.approvals a where a.job_id = j.job_id and a.state = 'waiting')
                else not exists (select from nightdesk_data.steps s where s.job_id = j.job_id and s.state = 'uncertain')
                     and not exists (select from nightdesk_data.draft_reviews v
                                      where v.job_id = j.job_id and v.state = 'waiting') end
        order by j.seq limit ${SLICE} for no key update of j),
     ended as (
       update nightdesk_data.approvals a set state = 'expired', decided_at = clock_timestamp()
         from over where a.approval_id = over.approval_id and a.state = 'waiting'
       returning 1),
     woken as (
       update nightdesk_data.jobs j set ${DUE_AT_ONCE}
         from free where j.job_id = free.job_id
       returning 1)
     select (select count(*) from ended) as expired, (select count(*) from woken) as woken,
            case when exists (select from woken) then pg_notify('${JOBS_CHANNEL}', '') end`;
