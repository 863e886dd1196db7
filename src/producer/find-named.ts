import { hintNames } from "../shared/text/close-names.ts";
import type { Config } from "../shared/config/schema.ts";
import type { Queryable } from "../shared/store/connection/database.ts";
import { findSchedule, putSchedule, selectSchedules } from "../shared/store/schedules/schedules.ts";
import type { Schedule } from "../shared/store/schedules/schedules.ts";
import { Failure } from "../shared/failure.ts";
import { assertHolds, configuredSchedules } from "../shared/schedules/schedule.ts";

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

function notFound(name: string, names: readonly string[]): Failure {
  const hint = hintNames(name, names, "nightdesk schedule list shows all.");
  return new Failure("NOT_FOUND", `There is no schedule ${JSON.stringify(name)}; ${hint}`);
}
