import { z } from "zod";
import type { Queryable } from "../store/connection/database.ts";
import { rowOf, rowsOf } from "../store/connection/rows.ts";
import { NAME, WORDS, state, tableOf, time } from "./section.ts";
import type { Table, Text } from "./section.ts";

const actionSchema = z.object({
  action_id: z.string(),
  at: z.date(),
  actor: z.string(),
  action: z.string(),
  batch_id: z.string().nullable(),
  batch: z.string().nullable(),
  job_id: z.string().nullable(),
  detail: z.record(z.string(), z.unknown()),
  outcome: z.enum(["begun", "done", "failed"]),
  said: z.string().nullable(),
});

/** A change that a person made on the dashboard. */
type ActionRow = z.infer<typeof actionSchema>;

const SELECT = `select action_id::text, at, actor, action, batch_id, batch, job_id, detail, outcome, said
  from nightdesk.operator_actions`;

/** Actions, newest first. @param before the last id of the previous page; null for the newest */
export const selectActions = (
  db: Queryable,
  before: string | null,
  limit: number,
): Promise<readonly ActionRow[]> =>
  rowsOf(db, actionSchema, [before, limit])`
     ${SELECT} where $1::bigint is null or action_id < $1 order by operator_actions.action_id desc limit $2`;

export const findAction = (db: Queryable, actionId: string): Promise<ActionRow | undefined> =>
  rowOf(db, actionSchema, [actionId])`${SELECT} where action_id = $1`;

export const actionTable = (rows: readonly ActionRow[]): Table =>
  tableOf(rows, [
    ["when", ({ at }) => time(at), NAME],
    ["who", ({ actor }) => actor],
    ["did", ({ action }) => action],
    ["to", (row) => row.batch ?? row.job_id?.slice(0, 8) ?? row.batch_id?.slice(0, 8) ?? null],
    ["chosen", chosenText, WORDS],
    ["came of it", outcomeText, WORDS],
  ]);

const chosenText = ({ detail }: ActionRow): string =>
  Object.entries(detail)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("; ");

const outcomeText = ({ outcome, said }: ActionRow): Text => [
  state(outcome === "done" ? "succeeded" : outcome, outcome),
  ` ${said ?? ""}`,
];
