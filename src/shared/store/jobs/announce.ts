import type { Queryable } from "../connection/database.ts";

/** Something happened that a person who looks at the desk wants to see: runs have ended, or a batch was changed. */
export const EVENTS_CHANNEL = "nightdesk_events";

/** Tells whoever looks at the desk that there is something new. */
export async function announceEvents(db: Queryable): Promise<void> {
  await db.query(`select pg_notify('${EVENTS_CHANNEL}', '')`);
}
