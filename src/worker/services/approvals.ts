import type { Logger } from "../../shared/logger.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { reconcileApprovals } from "../../shared/store/investigations/approvals.ts";
import type { Service } from "./supervisor.ts";

const LOOK_MS = 5_000;

/** Ends requests that nobody answered in time, and makes jobs due that no request holds any more. */
export const approvalService = ({
  database,
  logger,
}: {
  readonly database: Database;
  readonly logger: Logger;
}): Service => ({
  name: "approvals",
  trouble: "requests for approval could not be looked after",
  channels: [],
  async run() {
    const { expired, woken } = await reconcileApprovals(database);
    if (expired > 0) logger.info({ expired, jobs: woken }, "requests for approval have expired");
    return LOOK_MS;
  },
});
