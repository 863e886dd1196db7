import type { Database } from "../shared/store/connection/database.ts";
import { beginAction, endAction } from "../shared/store/operator/actions.ts";
import type { NewAction } from "../shared/store/operator/actions.ts";
import { failureOf } from "./failures.ts";

export type ActionResult = { readonly said: string; readonly batchId: string };

/**
 * Runs an action of a user. The audit records the user and the action before it runs, and its outcome after it. A failed action
 * is reported by the audit, and by the page that shows it.
 * @param body runs the action, and resolves to a sentence on it, with the batch that it created, if any
 * @returns the id of the action
 */
export async function runAction(
  database: Database,
  action: NewAction,
  body: () => Promise<string | ActionResult>,
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
