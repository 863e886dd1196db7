import type { Route } from "./desk.ts";
import { ACTIONS } from "./pages/actions.ts";
import { BATCH } from "./pages/batch.ts";
import { BATCHES } from "./pages/batches.ts";
import { INBOX } from "./pages/inbox.ts";
import { RUN } from "./pages/run.ts";
import { TONIGHT } from "./pages/tonight.ts";

/** All pages and all changes. */
export const ROUTES: readonly Route[] = [
  ...TONIGHT,
  ...BATCHES,
  ...ACTIONS,
  ...INBOX,
  ...BATCH,
  ...RUN,
];
