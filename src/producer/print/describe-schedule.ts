import { readCron } from "../../shared/cron-times.ts";
import type { LastRun, Schedule } from "../../shared/db/schedules/read-schedules.ts";
import { plannedLocal } from "../../shared/schedules/planned-name.ts";

const SHOWN_TIMES = 3;

/** The next three times after now; none of a schedule that is off. */
export function nextTimes({ enabled, cron, timezone }: Schedule, now: Date): readonly Date[] {
  const read = readCron(cron, timezone);
  if (!enabled || !read.ok) return [];
  const times: Date[] = [];
  for (let at = now; times.length < SHOWN_TIMES;) {
    at = read.times.next(at);
    times.push(at);
  }
  return times;
}

/** `2026-11-22 01:00+01:00`, by the schedule's clock. */
export const showPlanned = (time: Date, timezone: string): string =>
  plannedLocal(time, timezone)
    .time.replace("T", " ")
    .replace(/:00(?=[+-])/, "");

/** A schedule as `--json` gives it. */
export const scheduleJson = (
  schedule: Schedule,
  now: Date,
  last: LastRun | undefined,
): Record<string, unknown> => ({
  name: schedule.name,
  origin: schedule.origin,
  enabled: schedule.enabled,
  cron: schedule.cron,
  timezone: schedule.timezone,
  command: schedule.command,
  catch_up: schedule.catchUp,
  next: nextTimes(schedule, now),
  last_run:
    last === undefined
      ? null
      : {
          planned_at: last.plannedAt,
          cause: last.cause,
          batch: last.batch,
          state: last.state,
          error_code: last.code,
        },
});

/** `2026-11-21 01:00+01:00 succeeded`, with the code of what did not succeed. */
export function describeLastRun(last: LastRun | undefined, timezone: string): string | null {
  if (last === undefined) return null;
  const code = last.code === null ? "" : ` ${last.code}`;
  return `${showPlanned(last.plannedAt, timezone)} ${last.state ?? "(batch deleted)"}${code}`;
}
