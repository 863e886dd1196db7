import { openZone, showLocal } from "./wall-clock.ts";

/** A time as the schedule's zone shows it; UTC where this machine does not know the zone. */
export const plannedLocal = (
  plannedAt: Date,
  timezone: string,
): { readonly date: string; readonly time: string } =>
  showLocal(plannedAt, openZone(timezone) ?? { offsetAt: () => 0 });

/**
 * Name of the batch of a run, like `schedule nightly-index 2026-11-22T01:00:00+01:00`: not what its command is likely to
 * name the batch that it loads.
 */
export const plannedName = (schedule: string, plannedAt: Date, timezone: string): string =>
  `schedule ${schedule} ${plannedLocal(plannedAt, timezone).time}`;
