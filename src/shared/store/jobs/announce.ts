import type { Queryable } from "../connection/database.ts";
import { execute } from "../connection/rows.ts";

/** Something happened that a person who looks at the desk wants to see: runs have ended, or a batch was changed. */
export const EVENTS_CHANNEL = "nightdesk_events";

/** Tells whoever looks at the desk that there is something new. */
export const announceEvents = (db: Queryable): Promise<void> =>
  execute(db)`select pg_notify('${EVENTS_CHANNEL}', '')`;
