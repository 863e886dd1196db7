import { z } from "zod";
import type { Queryable } from "../connection/database.ts";

/** What somebody may do on the pages of the desk. */
export const OPERATOR_ACTIONS = [
  ...(["pause", "resume", "cancel", "retry"] as const),
  ...(["approve", "deny", "accept", "correct", "reject", "resolve"] as const),
  ...(["start", "save-query", "remove-query"] as const),
] as const;
export type OperatorAction = (typeof OPERATOR_ACTIONS)[number];

export type NewAction = {
  /** Who asked for it. */
  readonly actor: string;
  readonly action: OperatorAction;
  readonly batchId?: string;
  readonly jobId?: string;
  readonly detail?: Readonly<Record<string, unknown>>;
};

const idSchema = z.tuple([z.object({ action_id: z.string() })]);

/** Writes down that somebody is about to do something. @returns its id, for `endAction` */
export async function beginAction(
  db: Queryable,
  { actor, action, batchId, jobId, detail }: NewAction,
): Promise<string> {
  const { rows } = await db.query(
    `insert into nightdesk_data.operator_actions (actor, action, batch_id, job_id, detail)
     values ($1, $2, $3, $4, $5) returning action_id::text`,
    [actor, action, batchId ?? null, jobId ?? null, JSON.stringify(detail ?? {})],
  );
  return idSchema.parse(rows)[0].action_id;
}

/** Writes down what came of it. @param said a sentence, cut after 2,000 characters */
export async function endAction(
  db: Queryable,
  actionId: string,
  { outcome, said }: { readonly outcome: "done" | "failed"; readonly said: string },
): Promise<void> {
  await db.query(
    `update nightdesk_data.operator_actions
        set outcome = $2, said = $3, ended_at = clock_timestamp() where action_id = $1`,
    [actionId, outcome, said.slice(0, MOST_SAID)],
  );
}

const MOST_SAID = 2_000;
