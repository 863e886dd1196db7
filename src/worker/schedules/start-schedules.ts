import { hostname } from "node:os";
import { readCron } from "../../shared/cron-times.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import {
  replaceFileSchedules,
  selectNow,
  selectSchedules,
} from "../../shared/store/schedules/schedules.ts";
import type { Schedule } from "../../shared/store/schedules/schedules.ts";
import type { Logger } from "../../shared/logger.ts";
import type { DeliveryWorker } from "../../shared/queue/storage.ts";
import type { TickQueue } from "../../shared/queue/tick-queue.ts";
import type { ScheduleEntry } from "../../shared/schedules/schedule.ts";
import type { FaultLog } from "../runtime/fault-log.ts";
import { repeat } from "../runtime/repeat.ts";
import type { Repeating } from "../runtime/repeat.ts";
import { runAtTick, runWhenMissed } from "./make-due-runs.ts";
import { putSchedulers } from "./put-schedulers.ts";

export type ScheduleParts = {
  readonly database: Database;
  readonly openTicks: () => TickQueue;
  /** Of this worker's configuration. */
  readonly entries: readonly ScheduleEntry[];
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
 * Keeps schedules: takes those of the configuration over, once; then has the queue tick for those that are switched on,
 * again after it was flushed; and runs what was missed. The queue of ticks is opened when there is something to tick for.
 */
export function startSchedules(parts: ScheduleParts): Repeating {
  const { database, entries, logger, faults, now = selectNow } = parts;
  let clockwork: Clockwork | undefined;
  let isTakenOver = false;
  const told = new Set<string>();
  const loop = repeat(
    async () => {
      if (!isTakenOver) await takeOver(parts);
      isTakenOver = true;
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
  logger.debug({ schedules: entries.length }, "schedules of the configuration read");
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

async function takeOver({ database, entries, logger }: ScheduleParts): Promise<void> {
  const host = hostname();
  const { kind, leftOut, before } = await replaceFileSchedules(database, entries, host);
  if (kind === "unchanged") return;
  for (const schedule of leftOut) {
    logger.warn({ schedule }, "left out of the configuration: one of this name was set by hand");
  }
  const names = entries.map(({ name }) => name);
  if (before === null) logger.info({ schedules: names }, "schedules taken from the configuration");
  else {
    logger.warn(
      { schedules: names, before },
      "schedules replaced: this worker's configuration differs from that of the worker before it",
    );
  }
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
