import type { Database } from "../shared/store/connection/database.ts";
import { beginAction, endAction } from "../shared/store/operator/actions.ts";
import type { NewAction } from "../shared/store/operator/actions.ts";
import { failureOf } from "./failures.ts";

export type Made = { readonly said: string; readonly batchId: string };

/**
 * Does something that somebody asked for, and writes down who asked for what before it is done and what came of it after.
 * What can't be done is said by the audit, and by the page that shows it.
 * @param body does it, and resolves to a sentence on it, and to the batch that it made, if it made one
 * @returns the id of the action
 */
export async function act(
  database: Database,
  action: NewAction,
  body: () => Promise<string | Made>,
): Promise<string> {
  const id = await beginAction(database, action);
  try {
    const done = await body();
    await endAction(database, id, {
      outcome: "done",
      ...(typeof done === "string" ? { said: done } : done),
    });
  } catch (error) {
    const { status, message } = failureOf(error);
    await endAction(database, id, { outcome: "failed", said: message });
    if (status >= 500) throw error;
  }
  return id;
}
