import type { Logger } from "../../shared/logger.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { wakeExamined } from "../../shared/store/hosts/exams.ts";
import { reconcileApprovals } from "../../shared/store/investigations/approvals.ts";
import type { Service } from "./supervisor.ts";

const LOOK_MS = 5_000;

/** Ends requests that nobody answered in time, and makes jobs due that no request holds any more, and no exam of their judge. */
export const approvalService = ({
  database,
  logger,
  examWaitS,
}: {
  readonly database: Database;
  readonly logger: Logger;
  readonly examWaitS: number;
}): Service => ({
  name: "approvals",
  trouble: "jobs that wait for a person or an exam could not be looked after",
  async run() {
    const { expired, woken } = await reconcileApprovals(database);
    if (expired > 0) logger.info({ expired, jobs: woken }, "requests for approval have expired");
    await wakeExamined(database, examWaitS);
    return LOOK_MS;
  },
});
