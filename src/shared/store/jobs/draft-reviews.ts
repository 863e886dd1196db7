import { z } from "zod";
import type { DraftReview, WantedReview } from "../../job/verification.ts";
import type { Queryable } from "../connection/database.ts";
import { camelRow, execute, rowOf, rowsOf, valueOf } from "../connection/rows.ts";
import { DUE_AT_ONCE } from "../investigations/approvals.ts";
import { JOBS_CHANNEL } from "./batches.ts";

const REVIEW_STATES = ["waiting", "accepted", "corrected", "rejected"] as const;
type ReviewState = (typeof REVIEW_STATES)[number];

/** Asks a person to review the draft of a job. A new draft replaces the review of an earlier one. */
export const requestReview = (
  db: Queryable,
  job: { readonly jobId: string; readonly runId: string },
  { draftSha256, draft, why }: WantedReview,
): Promise<void> =>
  execute(db, [job.jobId, job.runId, draftSha256, draft, why])`
     insert into nightdesk_data.draft_reviews as v (job_id, run_id, draft_sha256, draft, why)
     values ($1, $2, $3, $4, $5)
     on conflict (job_id) do update
        set run_id = excluded.run_id, draft_sha256 = excluded.draft_sha256, draft = excluded.draft, why = excluded.why,
            state = 'waiting', correction = null, facts = '{}', reason = null, decided_by = null, decided_at = null,
            requested_at = clock_timestamp()
      where v.draft_sha256 <> excluded.draft_sha256`;

/** The row of a review. */
export const reviewRowSchema = z.object({
  draft_sha256: z.string(),
  state: z.enum(REVIEW_STATES),
  correction: z.string().nullable(),
  reason: z.string().nullable(),
  decided_by: z.string().nullable(),
});

const reviewSchema = camelRow(reviewRowSchema.shape);

/** The review of a job's draft; null when there is none. */
export async function selectReview(db: Queryable, jobId: string): Promise<DraftReview | null> {
  const review = await rowOf(db, reviewSchema, [jobId])`
     select draft_sha256, state, correction, reason, decided_by from nightdesk_data.draft_reviews where job_id = $1`;
  return review ?? null;
}

const decidedSchema = camelRow({
  statement: z.string(),
  is_wrong: z.boolean(),
  path: z.string(),
  text: z.string(),
});

/**
 * Statements of reviewed drafts, the newest first, with the passage of the index that supports them. All statements of an
 * accepted answer are right. The statement of a corrected or rejected answer is wrong if it is the only one; of several, it is
 * unknown which.
 */
export const selectDecidedStatements = (
  db: Queryable,
  most: number,
): Promise<readonly z.infer<typeof decidedSchema>[]> =>
  rowsOf(db, decidedSchema, [most])`
     select c.text as statement, v.state <> 'accepted' as is_wrong, c.path, coalesce(p.text, c.carrier) as text
       from nightdesk_data.draft_reviews v
       join nightdesk_data.claims c on c.run_id = v.run_id and c.stands and c.carrier is not null
       left join lateral (
         select k.text from nightdesk_data.documents d join nightdesk_data.chunks k using (doc_id)
          where d.path = c.path and position(c.carrier in k.text) > 0 order by k.ordinal limit 1) p on true
      where v.state = 'accepted'
         or v.state in ('corrected', 'rejected')
            and (select count(*) from nightdesk_data.claims o where o.run_id = v.run_id and o.stands) = 1
      order by v.decided_at desc, c.run_id, c.ordinal limit $1`;

/** A person's decision about a draft. */
export type ReviewDecision = {
  readonly state: Exclude<ReviewState, "waiting">;
  /** The corrected answer in the person's own words. */
  readonly correction: string | null;
  /** Facts that a right answer must have, for `nightdesk eval`. */
  readonly facts: readonly string[];
  readonly reason: string | null;
  readonly decidedBy: string;
};

/** late: another decision was first, or the job has ended otherwise. */
type ReviewOutcome =
  | { readonly kind: "decided" }
  | { readonly kind: "late"; readonly state: ReviewState; readonly by: string | null }
  | { readonly kind: "unknown" };

/** Stores the first decision, and makes the job due at once. */
export async function decideReview(
  db: Queryable,
  jobId: string,
  { state, correction, facts, reason, decidedBy }: ReviewDecision,
): Promise<ReviewOutcome> {
  const isFirst = await valueOf(db, z.boolean(), [
    jobId,
    state,
    correction,
    facts,
    reason,
    decidedBy,
  ])`
     with waiting as materialized (
       select v.job_id from nightdesk_data.draft_reviews v join nightdesk_data.jobs j using (job_id)
        where v.job_id = $1 and v.state = 'waiting' and j.state = 'parked' and j.waiting_for = 'review'
          for no key update of j, v),
     said as (
       update nightdesk_data.draft_reviews v
          set state = $2, correction = $3, facts = $4, reason = $5, decided_by = $6, decided_at = clock_timestamp()
         from waiting where v.job_id = waiting.job_id
       returning v.job_id),
     woken as (
       update nightdesk_data.jobs j set ${DUE_AT_ONCE} from said where j.job_id = said.job_id returning j.job_id)
     select exists (select from said) as decided,
            case when exists (select from woken) then pg_notify('${JOBS_CHANNEL}', '') end`;
  if (isFirst) return { kind: "decided" };
  const review = await selectReview(db, jobId);
  return review === null
    ? { kind: "unknown" }
    : { kind: "late", state: review.state, by: review.decidedBy };
}
