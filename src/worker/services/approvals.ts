import type { Logger } from "../../shared/logger.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { wakeExamined } from "../../shared/store/hosts/exams.ts";
import { reconcileApprovals } from "../../shared/store/investigations/approvals.ts";
import type { Service } from "./supervisor.ts";

const LOOK_MS = 5_000;

/** Expires requests that nobody answered in time, and makes jobs due that no longer wait for a request or an exam. */
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
