import { findCloseNames } from "../shared/close-names.ts";
import type { Config } from "../shared/config/schema.ts";
import type { Queryable } from "../shared/db/database.ts";
import { findSchedule, selectSchedules } from "../shared/db/schedules/read-schedules.ts";
import type { Schedule } from "../shared/db/schedules/read-schedules.ts";
import { putSchedule } from "../shared/db/schedules/write-schedules.ts";
import { Failure } from "../shared/failure.ts";
import { checkSchedule } from "../shared/schedules/check-schedule.ts";
import { configuredSchedules } from "../shared/schedules/configured-schedules.ts";
import type { ScheduleEntry } from "../shared/schedules/schedule-entry.ts";

/**
 * The schedule of that name. One that only the configuration knows, because no worker has started with it yet, is
 * written first.
 * @throws Failure NOT_FOUND with the names that were likely meant, INPUT_INVALID when its entry does not hold
 */
export async function findNamedSchedule(
  db: Queryable,
  config: Config,
  name: string,
): Promise<Schedule> {
  const known = await findSchedule(db, name);
  if (known !== undefined) return known;
  const entries = configuredSchedules(config);
  const entry = entries.find((candidate) => candidate.name === name);
  if (entry === undefined) {
    const names = [...entries, ...(await selectSchedules(db))].map((schedule) => schedule.name);
    throw notFound(name, [...new Set(names)]);
  }
  assertHolds(entry);
  await putSchedule(db, entry, "file");
  return findNamedSchedule(db, { ...config, schedules: [] }, name);
}

/** @throws Failure INPUT_INVALID with all that keeps the schedule from running */
export function assertHolds(entry: ScheduleEntry): void {
  const problems = checkSchedule(entry).map(({ key, text }) => `${key} ${text}`);
  if (problems.length === 0) return;
  throw new Failure(
    "INPUT_INVALID",
    `Schedule ${JSON.stringify(entry.name)}: ${problems.join("; ")}.`,
  );
}

function notFound(name: string, names: readonly string[]): Failure {
  const close = findCloseNames(name, names);
  const hint =
    close.length === 0
      ? "nightdesk schedule list shows all."
      : `did you mean ${close.map((known) => JSON.stringify(known)).join(" or ")}?`;
  return new Failure("NOT_FOUND", `There is no schedule ${JSON.stringify(name)}; ${hint}`);
}
