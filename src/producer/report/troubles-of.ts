import type { TroubleRow } from "../../shared/db/jobs/report-rows.ts";
import type { Report } from "./gather-report.ts";

/** Refusals are results; all else that did not succeed is a fault, was cut short, or waits. */
export const troublesOf = ({
  troubles,
}: Report): {
  readonly refusals: readonly TroubleRow[];
  readonly failures: readonly TroubleRow[];
} => ({
  refusals: troubles.filter(({ state }) => state === "refused"),
  failures: troubles.filter(({ state }) => state !== "refused"),
});
