import { readCron } from "../../shared/cron-times.ts";
import type { Logger } from "../../shared/logger.ts";
import type { DeliveryWorker } from "../../shared/queue/storage.ts";
import type { Tick, TickQueue } from "../../shared/queue/tick-queue.ts";
import { parseCatchUp } from "../../shared/schedules/schedule.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { makeRun } from "../../shared/store/schedules/schedule-runs.ts";
import type { MadeRun } from "../../shared/store/schedules/schedule-runs.ts";
import {
  findSchedule,
  selectNow,
  selectSchedules,
} from "../../shared/store/schedules/schedules.ts";
import type { Schedule } from "../../shared/store/schedules/schedules.ts";
import { repeat } from "../loop.ts";
import type { FaultLog, Repeating } from "../loop.ts";

type ScheduleParts = {
  readonly database: Database;
  readonly openTicks: () => TickQueue;
  readonly logger: Logger;
  readonly faults: FaultLog;
  /** The database's clock, unless a test has one of its own. */
  readonly now?: (database: Database) => Promise<Date>;
};

const UPKEEP_MS = 30_000;
const AFTER_ERROR_MS = 2_000;
const UNKEPT = "schedules could not be kept";

type Clockwork = { readonly ticks: TickQueue; readonly listener: DeliveryWorker };

/**
 * Keeps schedules: has the queue tick for those that are switched on, again after it was flushed, and runs what was missed. The queue of ticks is opened when there is something to tick for.
 */
export function startSchedules(parts: ScheduleParts): Repeating {
  const { database, logger, faults, now = selectNow } = parts;
  let clockwork: Clockwork | undefined;
  const told = new Set<string>();
  const loop = repeat(
    async () => {
      const schedules = await selectSchedules(database);
      const enabled = schedules.filter(
        (schedule) => schedule.enabled && hasTimes(schedule, logger, told),
      );
      const at = await now(database);
      // What was missed needs no queue.
      await catchUp(database, enabled, at, logger);
      if (enabled.length > 0) clockwork ??= await openClockwork(parts);
      if (clockwork !== undefined) await putSchedulers(clockwork.ticks, enabled, at);
      faults.works(UNKEPT);
      return UPKEEP_MS;
    },
    (error) => {
      faults.broke(UNKEPT, error);
      return AFTER_ERROR_MS;
    },
  );
  return {
    wake() {
      loop.wake();
    },
    async stop() {
      await loop.stop();
      await clockwork?.listener.close();
      await clockwork?.ticks.close();
    },
  };
}

/** A row that some other program wrote keeps no other schedule from its times. */
function hasTimes({ name, cron, timezone }: Schedule, logger: Logger, told: Set<string>): boolean {
  const read = readCron(cron, timezone);
  if (read.ok) return true;
  if (!told.has(name)) logger.warn({ schedule: name, reason: read.reason }, "schedule left out");
  told.add(name);
  return false;
}

async function openClockwork({
  database,
  openTicks,
  logger,
  now = selectNow,
}: ScheduleParts): Promise<Clockwork> {
  const ticks = openTicks();
  const listener = ticks.listen(async (tick) => {
    const made = await runAtTick(database, tick, await now(database));
    if (made !== undefined) {
      logger.info({ schedule: tick.schedule, batch: made.batch }, "schedule run");
    }
  });
  try {
    await listener.ready();
  } catch (error) {
    // One that could not connect at first may never try again. Closing it may wait for a queue that is away.
    void Promise.allSettled([listener.close(), ticks.close()]);
    throw error;
  }
  return { ticks, listener };
}

async function catchUp(
  database: Database,
  enabled: readonly Schedule[],
  now: Date,
  logger: Logger,
): Promise<void> {
  for (const schedule of enabled) {
    const made = await runWhenMissed(database, schedule, now);
    if (made !== undefined) {
      logger.info({ schedule: schedule.name, batch: made.batch }, "missed time of a schedule run");
    }
  }
}

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

/** A tick that should have come so long ago will not come by itself. */
const OVERDUE_MS = 60_000;

/**
 * Makes the queue's schedulers those of the rows. One that is there already is left alone, because putting it again
 * counts its next tick from now.
 * @returns how many were put or removed
 */
export async function putSchedulers(
  ticks: TickQueue,
  enabled: readonly Schedule[],
  now: Date,
): Promise<number> {
  const known = await ticks.schedulers();
  const wanted = new Map(enabled.map((schedule) => [schedule.name, schedule]));
  const foreign = known.filter(({ name }) => !wanted.has(name));
  for (const { name } of foreign) await ticks.removeScheduler(name);
  const byName = new Map(known.map((scheduler) => [scheduler.name, scheduler]));
  const missing = enabled.filter(({ name, cron, timezone }) => {
    const there = byName.get(name);
    if (there?.cron !== cron || there.timezone !== timezone || there.next === null) return true;
    return now.getTime() - there.next.getTime() > OVERDUE_MS;
  });
  for (const { name, cron, timezone } of missing) {
    await ticks.upsertScheduler({ name, cron, timezone });
  }
  return foreign.length + missing.length;
}
