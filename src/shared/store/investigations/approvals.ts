import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { anyRow, camelRow, oneRowOf, rowOf } from "../connection/rows.ts";
import { guardBy } from "../connection/locks.ts";
import { JOBS_CHANNEL } from "../jobs/batches.ts";
import { HELD } from "./steps.ts";
import type { StepWriter } from "./steps.ts";

/** What a person is asked about. */
export type ApprovalRequest = {
  readonly step: number;
  /** Of tool, arguments, executor and preset, 64 hex. */
  readonly fingerprint: string;
  readonly tool: string;
  readonly executor: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Labels; they warn, and allow nothing. */
  readonly risks: readonly string[];
  /** All that the call would do, as people read it, in MOST_PREVIEW_CHARS characters at most. */
  readonly preview: string;
  readonly expiresInSeconds: number;
};

/** A decision that stands for a request: for its job, its batch, or by a rule. */
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

/** Code points of what somebody is shown who decides about a call. */
export const MOST_PREVIEW_CHARS = 4_000;

/**
 * Asks a person about the call of a step that waits, unless somebody decided about the same already: for this job, its
 * batch, or by a rule of this fingerprint. A step that was approved is started.
 * @returns lost when the job is not this run's any more
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

/** What became of the request of a step; undefined where there is none. */
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
 * Starts a step that waits, before its call is made: one that was approved, or that nobody has to be asked about any more.
 * @returns false when the job is not this run's any more, or the step waits for an answer
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
 * Ends a request that no person has to answer any more, because a rule does, and lets its step go on.
 * @returns false when the job is not this run's any more, or somebody answered meanwhile
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

/** Who decided what, and how far it goes. */
export type NewDecision = {
  readonly verdict: "approve" | "deny";
  readonly scope: "once" | "job" | "batch" | "rule";
  readonly reason: string | null;
  readonly decidedBy: string;
  /** Of a rule; null for any other. */
  readonly expiresInSeconds: number | null;
};

const decidedSchema = camelRow({
  decision_id: z.string().nullable(),
  answered: z.coerce.number(),
  woken: z.coerce.number(),
});

/** late: somebody else answered before, or it expired or was withdrawn. */
export type Decided =
  | {
      readonly kind: "decided";
      readonly decisionId: string;
      /** Requests that it answered: all that waited with this fingerprint, as far as its scope goes. */
      readonly answered: number;
      readonly woken: number;
    }
  | ({ readonly kind: "late" } & EarlierAnswer)
  | { readonly kind: "unknown" };

/**
 * Answers a request, and all that wait with its fingerprint as far as the scope goes: `once` and `rule` all of them, `job`
 * and `batch` those of the same. Of two that answer at once the first wins. What waited for it is due at once.
 * @param batchId the batch whose requests alone are answered; null for all
 */
export async function decideApproval(
  db: Queryable,
  approvalId: string,
  decision: NewDecision,
  batchId: string | null = null,
): Promise<Decided> {
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
  // Who came second waited for the first, and reads what that one wrote only with a new statement.
  const earlier = await selectEarlierAnswer(db, approvalId);
  return earlier === undefined ? { kind: "unknown" } : { kind: "late", ...earlier };
}

/** A job that no person holds any more. */
export const DUE_AT_ONCE =
  "state = 'queued', waiting_for = null, due_at = clock_timestamp(), error_code = null, error_message = null";

// The jobs are taken first, in one order with all that moves several of them, each with its request: who comes second
// waits for the first job, and finds that its request waits no more. `aimed` is the request that was looked at: where it
// does not wait any more nothing is decided.
const DECIDE = `
with aimed as materialized (
  select a.approval_id, a.fingerprint, a.job_id, j.batch_id
    from nightdesk_data.approvals a join nightdesk_data.jobs j using (job_id)
   where a.approval_id = $1 and a.state = 'waiting'),
alike as materialized (
  select a.approval_id, a.job_id
    from aimed join nightdesk_data.approvals a using (fingerprint)
    join nightdesk_data.jobs j on j.job_id = a.job_id
   where a.state = 'waiting' and a.expires_at > clock_timestamp()
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

/** What became of a request before; one whose time is over has expired, also where no worker has ended it yet. */
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

/** Requests of one look: some 100 ms of work. */
const SLICE = 2_000;

/**
 * Ends requests whose time is over, and makes jobs due that no person holds any more: of those that expired, and of those
 * that were answered in the moment in which their run parked. One worker at a time.
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
