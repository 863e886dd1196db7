import { parseCron } from "../../shared/schedules/cron-times.ts";
import type { Logger } from "../../shared/logger.ts";
import { parseCatchUp } from "../../shared/schedules/schedule.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { queueScheduleRun } from "../../shared/store/schedules/schedule-runs.ts";
import type { ScheduleRun } from "../../shared/store/schedules/schedule-runs.ts";
import {
  SCHEDULES_CHANNEL,
  selectNow,
  selectSchedules,
} from "../../shared/store/schedules/schedules.ts";
import type { Schedule } from "../../shared/store/schedules/schedules.ts";
import type { Service } from "./supervisor.ts";

type ScheduleParts = { readonly database: Database; readonly logger: Logger };

/** A change of a schedule is notified to the workers; this interval covers a lost notification. */
const MOST_WAIT_MS = 30_000;

/**
 * Runs enabled schedules at their times, by the database's clock, and catches up on missed times. Only rows record what has
 * already run.
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

/** Milliseconds from a time of the database's clock to the next planned time. */
const msUntilNext = (enabled: readonly Schedule[], now: Date): number =>
  Math.min(
    MOST_WAIT_MS,
    ...enabled.flatMap(({ cron, timezone }) => {
      const read = parseCron(cron, timezone);
      return read.ok ? [read.times.next(now).getTime() - now.getTime()] : [];
    }),
  );

/** Skips a row whose times are invalid, as written by another program, so that it does not disturb other schedules. */
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

/** A planned time within this age is not missed: it runs whatever `catch_up` says. */
const IN_TIME_MS = 60_000;

/**
 * Runs a schedule for its last planned time, if that has not run and is current or young enough to catch up on. Earlier missed
 * times are skipped.
 */
export async function runWhenDue(
  database: Database,
  schedule: Schedule,
  now: Date,
): Promise<(ScheduleRun & { readonly cause: "tick" | "missed" }) | undefined> {
  const read = parseCron(schedule.cron, schedule.timezone);
  if (!read.ok) return undefined;
  const plannedAt = read.times.previous(now);
  const ageMs = now.getTime() - plannedAt.getTime();
  const cause = ageMs <= IN_TIME_MS ? "tick" : "missed";
  const isTooOld = cause === "missed" && ageMs > (parseCatchUp(schedule.catchUp) ?? 0);
  if (isTooOld || plannedAt <= schedule.since) return undefined;
  const made = await queueScheduleRun(database, schedule, plannedAt, cause);
  return made === undefined ? undefined : { ...made, cause };
}
