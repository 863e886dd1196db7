import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { execute, valueOf } from "../connection/rows.ts";

/** Actions of users on the dashboard, on tokens, and of programs with tokens. */
type OperatorAction =
  | ("pause" | "resume" | "cancel" | "retry")
  | ("approve" | "deny" | "accept" | "correct" | "reject" | "resolve" | "choose")
  | ("start" | "save-query" | "remove-query" | "switch-schedule" | "run-schedule")
  | ("create-token" | "revoke-token" | "send-file" | "delete-file" | "queue" | "ask")
  | "forget";

export type NewAction = {
  /** The user or program that requested it. */
  readonly actor: string;
  readonly action: OperatorAction;
  readonly batchId?: string;
  readonly jobId?: string;
  readonly detail?: Readonly<Record<string, unknown>>;
};

/** Records the beginning of an action. @returns its id, for `endAction` */
export const beginAction = (
  db: Queryable,
  { actor, action, batchId, jobId, detail }: NewAction,
): Promise<string> =>
  valueOf(db, z.string(), [
    actor,
    action,
    batchId ?? null,
    jobId ?? null,
    JSON.stringify(detail ?? {}),
  ])`
     insert into nightdesk_data.operator_actions (actor, action, batch_id, job_id, detail)
     values ($1, $2, $3, $4, $5) returning action_id::text`;

/** Records a finished action, atomically with it if `db` is its transaction. @param text a sentence */
export const recordAction = (
  db: Queryable,
  { actor, action, batchId, detail }: NewAction,
  text: string,
): Promise<void> =>
  execute(db, [
    actor,
    action,
    batchId ?? null,
    JSON.stringify(detail ?? {}),
    text.slice(0, MOST_SAID),
  ])`
     insert into nightdesk_data.operator_actions (actor, action, batch_id, detail, outcome, said, ended_at)
     values ($1, $2, $3, $4, 'done', $5, clock_timestamp())`;

type ActionEnd = {
  readonly outcome: "done" | "failed";
  /** A sentence, cut after 2,000 characters. */
  readonly said: string;
  /** The batch that it created. */
  readonly batchId?: string | undefined;
};

/** Records the end of an action. */
export const endAction = (
  db: Queryable,
  actionId: string,
  { outcome, said, batchId }: ActionEnd,
): Promise<void> =>
  execute(db, [actionId, outcome, said.slice(0, MOST_SAID), batchId ?? null])`
     update nightdesk_data.operator_actions
        set outcome = $2, said = $3, batch_id = coalesce($4, batch_id), ended_at = clock_timestamp() where action_id = $1`;

const MOST_SAID = 2_000;
