import { readCron } from "../../shared/cron-times.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { makeRun } from "../../shared/store/schedules/schedule-runs.ts";
import type { MadeRun } from "../../shared/store/schedules/schedule-runs.ts";
import { findSchedule } from "../../shared/store/schedules/schedules.ts";
import type { Schedule } from "../../shared/store/schedules/schedules.ts";
import type { Tick } from "../../shared/queue/tick-queue.ts";
import { parseCatchUp } from "../../shared/schedules/schedule.ts";

/** Clocks of machines differ by less, and a tick is heard within it unless all workers were away. */
const IN_TIME_MS = 60_000;
/** A time is missed when its tick has not been heard for so long. */
const MISSED_MS = 10_000;

/** Runs a schedule at the time of a tick. One that comes late, or of times that the schedule no longer has, is nothing. */
export async function runAtTick(
  database: Database,
  { schedule: name, plannedAt }: Tick,
  now: Date,
): Promise<MadeRun | undefined> {
  const schedule = await findSchedule(database, name);
  if (schedule?.enabled !== true || plannedAt <= schedule.since) return undefined;
  const read = readCron(schedule.cron, schedule.timezone);
  const isPlanned = read.ok && read.times.previous(plannedAt).getTime() === plannedAt.getTime();
  // What is late is for those who look for missed times: they know whether others were missed, too.
  const isInTime = Math.abs(now.getTime() - plannedAt.getTime()) <= IN_TIME_MS;
  if (!isPlanned || !isInTime) return undefined;
  return makeRun(database, schedule, plannedAt, "tick");
}

/**
 * Runs a schedule at its last time, if nobody did and it is young enough to be caught up. Of several times that were
 * missed it is the only one.
 */
export async function runWhenMissed(
  database: Database,
  schedule: Schedule,
  now: Date,
): Promise<MadeRun | undefined> {
  const read = readCron(schedule.cron, schedule.timezone);
  if (!read.ok) return undefined;
  const plannedAt = read.times.previous(now);
  const ageMs = now.getTime() - plannedAt.getTime();
  const isMissed = ageMs > MISSED_MS && ageMs <= (parseCatchUp(schedule.catchUp) ?? 0);
  if (!isMissed || plannedAt <= schedule.since) return undefined;
  return makeRun(database, schedule, plannedAt, "missed");
}
