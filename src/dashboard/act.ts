import type { Database } from "../shared/store/connection/database.ts";
import { beginAction, endAction } from "../shared/store/operator/actions.ts";
import type { NewAction } from "../shared/store/operator/actions.ts";
import { failureOf } from "./failures.ts";

/**
 * Does something that somebody asked for, and writes down who asked for what before it is done and what came of it after.
 * What can't be done is said by the audit, and by the page that shows it.
 * @param body does it, and resolves to a sentence on it
 * @returns the id of the action
 */
export async function act(
  database: Database,
  action: NewAction,
  body: () => Promise<string>,
): Promise<string> {
  const id = await beginAction(database, action);
  try {
    await endAction(database, id, { outcome: "done", said: await body() });
  } catch (error) {
    const { status, message } = failureOf(error);
    await endAction(database, id, { outcome: "failed", said: message });
    if (status >= 500) throw error;
  }
  return id;
}
