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

export type ActionEnd = {
  readonly outcome: "done" | "failed";
  /** A sentence, cut after 2,000 characters. */
  readonly said: string;
  /** The batch that it made. */
  readonly batchId?: string | undefined;
};

/** Writes down what came of it. */
export async function endAction(
  db: Queryable,
  actionId: string,
  { outcome, said, batchId }: ActionEnd,
): Promise<void> {
  await db.query(
    `update nightdesk_data.operator_actions
        set outcome = $2, said = $3, batch_id = coalesce($4, batch_id), ended_at = clock_timestamp() where action_id = $1`,
    [actionId, outcome, said.slice(0, MOST_SAID), batchId ?? null],
  );
}

const MOST_SAID = 2_000;
