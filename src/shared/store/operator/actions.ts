import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { execute, valueOf } from "../connection/rows.ts";

/** What somebody may do on the pages of the dashboard, and what is done about tokens and by their programs. */
type OperatorAction =
  | ("pause" | "resume" | "cancel" | "retry")
  | ("approve" | "deny" | "accept" | "correct" | "reject" | "resolve" | "choose")
  | ("start" | "save-query" | "remove-query" | "switch-schedule" | "run-schedule")
  | ("create-token" | "revoke-token" | "send-file" | "delete-file" | "queue" | "ask")
  | "forget";

export type NewAction = {
  /** Who asked for it. */
  readonly actor: string;
  readonly action: OperatorAction;
  readonly batchId?: string;
  readonly jobId?: string;
  readonly detail?: Readonly<Record<string, unknown>>;
};

/** Writes down that somebody is about to do something. @returns its id, for `endAction` */
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

/** Writes down what was done, in one step with doing it where `db` is its transaction. @param text a sentence */
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
  /** The batch that it made. */
  readonly batchId?: string | undefined;
};

/** Writes down what came of it. */
export const endAction = (
  db: Queryable,
  actionId: string,
  { outcome, said, batchId }: ActionEnd,
): Promise<void> =>
  execute(db, [actionId, outcome, said.slice(0, MOST_SAID), batchId ?? null])`
     update nightdesk_data.operator_actions
        set outcome = $2, said = $3, batch_id = coalesce($4, batch_id), ended_at = clock_timestamp() where action_id = $1`;

const MOST_SAID = 2_000;
