import type { Route } from "./site.ts";
import { ACTIONS } from "./pages/actions.ts";
import { ASK } from "./pages/ask.ts";
import { BATCH } from "./pages/batch.ts";
import { BATCHES } from "./pages/batches.ts";
import { FIELDS } from "./pages/fields.ts";
import { HEALTH } from "./pages/health.ts";
import { INBOX } from "./pages/inbox.ts";
import { INDEX } from "./pages/index-page.ts";
import { PLACE } from "./pages/place.ts";
import { RUN } from "./pages/run.ts";
import { SCHEDULES } from "./pages/schedules.ts";
import { SQL } from "./pages/sql.ts";
import { START } from "./pages/start.ts";
import { TONIGHT } from "./pages/tonight.ts";

/** All pages and changes. */
export const ROUTES: readonly Route[] = [
  ...TONIGHT,
  ...BATCHES,
  ...START,
  ...ASK,
  ...ACTIONS,
  ...BATCH,
  ...FIELDS,
  ...RUN,
  ...PLACE,
  ...INBOX,
  ...INDEX,
  ...SCHEDULES,
  ...HEALTH,
  ...SQL,
];
