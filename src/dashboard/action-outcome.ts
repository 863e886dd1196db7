import type { Queryable } from "../shared/store/connection/database.ts";
import { findAction } from "../shared/views/operator-actions.ts";
import { markup } from "../shared/views/html-markup.ts";
import type { Html } from "../shared/views/html-markup.ts";

/** The query parameter with the id of an action, for the page that shows its outcome. */
const ACTION_KEY = "did";

/** The URL of the page to show after an action. */
export const outcomePath = (path: string, actionId: string): string =>
  `${path}${path.includes("?") ? "&" : "?"}${ACTION_KEY}=${actionId}`;

/** The outcome of the action that led to this page; empty without one. */
export async function outcomeHtml(db: Queryable, query: URLSearchParams): Promise<Html> {
  const id = query.get(ACTION_KEY) ?? "";
  const action = /^\d{1,18}$/.test(id) ? await findAction(db, id) : undefined;
  if (action?.said == null) return markup``;
  const tone = action.outcome === "done" ? "done" : "failure";
  return markup`<p class="remedy ${tone}" role="status">${action.said}</p>`;
}
