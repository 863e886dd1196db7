import type { Schedule } from "../../shared/store/schedules/schedules.ts";
import type { TickQueue } from "../../shared/queue/tick-queue.ts";

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
