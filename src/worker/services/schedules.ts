import { parseCron } from "../../shared/schedules/cron-times.ts";
import type { Logger } from "../../shared/logger.ts";
import { parseCatchUp } from "../../shared/schedules/schedule.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { makeRun } from "../../shared/store/schedules/schedule-runs.ts";
import type { MadeRun } from "../../shared/store/schedules/schedule-runs.ts";
import {
  SCHEDULES_CHANNEL,
  selectNow,
  selectSchedules,
} from "../../shared/store/schedules/schedules.ts";
import type { Schedule } from "../../shared/store/schedules/schedules.ts";
import type { Service } from "./supervisor.ts";

type ScheduleParts = {
  readonly database: Database;
  readonly logger: Logger;
};

/** Whoever changes a schedule tells the workers; this is for when they did not hear of it. */
const MOST_WAIT_MS = 30_000;

/**
 * Runs schedules that are switched on at their times, by the database's clock, and what was missed. Rows alone say what has
 * run already.
 */
export function scheduleService({ database, logger }: ScheduleParts): Service {
  const warned = new Set<string>();
  return {
    name: "schedules",
    trouble: "schedules could not be kept",
    channels: [SCHEDULES_CHANNEL],
    async run() {
      const schedules = await selectSchedules(database);
      const enabled = schedules.filter(
        (schedule) => schedule.enabled && hasTimes(schedule, logger, warned),
      );
      const startedAt = performance.now();
      const at = await selectNow(database);
      for (const schedule of enabled) await runAndLog(database, schedule, at, logger);
      return Math.max(0, msUntilNext(enabled, at) - (performance.now() - startedAt));
    },
  };
}

/** From a time of the database's clock to the next time that something is planned for. */
const msUntilNext = (enabled: readonly Schedule[], now: Date): number =>
  Math.min(
    MOST_WAIT_MS,
    ...enabled.flatMap(({ cron, timezone }) => {
      const read = parseCron(cron, timezone);
      return read.ok ? [read.times.next(now).getTime() - now.getTime()] : [];
    }),
  );

/** A row that some other program wrote keeps no other schedule from its times. */
function hasTimes(
  { name, cron, timezone }: Schedule,
  logger: Logger,
  warned: Set<string>,
): boolean {
  const read = parseCron(cron, timezone);
  if (read.ok) return true;
  if (!warned.has(name)) logger.warn({ schedule: name, reason: read.reason }, "schedule left out");
  warned.add(name);
  return false;
}

async function runAndLog(
  database: Database,
  schedule: Schedule,
  now: Date,
  logger: Logger,
): Promise<void> {
  const made = await runWhenDue(database, schedule, now);
  if (made === undefined) return;
  const { cause, batch } = made;
  logger.info(
    { schedule: schedule.name, batch },
    cause === "tick" ? "schedule run" : "missed time of a schedule run",
  );
}

/** A time that is no older is not missed: it is run whatever `catch_up` says. */
const IN_TIME_MS = 60_000;

/**
 * Runs a schedule at its last time, if nobody did, and it has just come or is young enough to be caught up. Of several times
 * that were missed it is the only one.
 */
export async function runWhenDue(
  database: Database,
  schedule: Schedule,
  now: Date,
): Promise<(MadeRun & { readonly cause: "tick" | "missed" }) | undefined> {
  const read = parseCron(schedule.cron, schedule.timezone);
  if (!read.ok) return undefined;
  const plannedAt = read.times.previous(now);
  const ageMs = now.getTime() - plannedAt.getTime();
  const cause = ageMs <= IN_TIME_MS ? "tick" : "missed";
  const isTooOld = cause === "missed" && ageMs > (parseCatchUp(schedule.catchUp) ?? 0);
  if (isTooOld || plannedAt <= schedule.since) return undefined;
  const made = await makeRun(database, schedule, plannedAt, cause);
  return made === undefined ? undefined : { ...made, cause };
}
