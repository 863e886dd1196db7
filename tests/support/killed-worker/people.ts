import type { Database, Queryable } from "../../../src/shared/store/connection/database.ts";
import { decideApproval } from "../../../src/shared/store/investigations/approvals.ts";
import type {
  ApprovalOutcome,
  NewDecision,
} from "../../../src/shared/store/investigations/approvals.ts";

/** A request that waits for somebody. */
export type Request = {
  readonly approval_id: string;
  readonly job_id: string;
  readonly custom_id: string;
  readonly preview: string;
};

export async function waitingRequests(db: Queryable): Promise<readonly Request[]> {
  const { rows } = await db.query(
    `select a.approval_id, a.job_id, j.custom_id, a.preview
       from nightdesk_data.approvals a join nightdesk_data.jobs j using (job_id)
      where a.state = 'waiting' order by j.seq, a.step`,
  );
  return rows as Request[];
}

export const ALLOW: NewDecision = {
  verdict: "approve",
  scope: "once",
  reason: null,
  decidedBy: "Ada",
  expiresInSeconds: null,
};
export const DENY: NewDecision = {
  verdict: "deny",
  scope: "once",
  reason: "Not tonight.",
  decidedBy: "Bo",
  expiresInSeconds: null,
};

export const decide = (
  db: Queryable,
  { approval_id }: Pick<Request, "approval_id">,
  decision: NewDecision = ALLOW,
): Promise<ApprovalOutcome> => decideApproval(db, approval_id, decision);

/** A call of which nobody knows whether it was carried out. */
export type Uncertain = {
  readonly job_id: string;
  readonly custom_id: string;
  readonly ordinal: number;
  readonly text: string;
};

/** Those of jobs that wait for a person to say so. */
export async function uncertainSteps(db: Queryable): Promise<readonly Uncertain[]> {
  const { rows } = await db.query(
    `select s.job_id, j.custom_id, s.ordinal, t.args->>'text' as text
       from nightdesk_data.steps s join nightdesk_data.jobs j using (job_id)
       join nightdesk_data.tool_calls t on t.job_id = s.job_id and t.step = s.ordinal
      where s.state = 'uncertain' and j.state = 'parked' and j.waiting_for = 'review' order by j.seq`,
  );
  return rows as Uncertain[];
}

/** Somebody looked, and says what became of a call: its job goes on. */
export async function settleUncertain(
  db: Database,
  { job_id: jobId, ordinal }: Uncertain,
  found: "done" | "skipped",
): Promise<void> {
  await db.transaction(async (inside) => {
    await inside.query(
      "update nightdesk_data.steps set state = $3, ended_at = clock_timestamp() where job_id = $1 and ordinal = $2",
      [jobId, ordinal, found],
    );
    await inside.query(
      `update nightdesk_data.jobs set state = 'queued', waiting_for = null, due_at = clock_timestamp(),
              error_code = null, error_message = null where job_id = $1`,
      [jobId],
    );
  });
}
