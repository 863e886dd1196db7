import { isoInZone, isZone } from "./time.ts";

/** The placeholders that a schedule's command may use. */
export const PLACEHOLDERS = ["{planned}", "{date}", "{schedule}"] as const;

const PLACEHOLDER = /\{[a-z_]+\}/g;

/**
 * Fills a command's placeholders for one planned time: `{schedule}` is the schedule's name, `{planned}` the time with its offset
 * from UTC, `{date}` the day, both in the schedule's zone.
 */
export function fillPlaceholders(
  words: readonly string[],
  { schedule, plannedAt, timezone }: { schedule: string; plannedAt: Date; timezone: string },
): string[] {
  const { date, time } = plannedLocal(plannedAt, timezone);
  const values = new Map([
    ["{schedule}", schedule],
    ["{planned}", time],
    ["{date}", date],
  ]);
  return words.map((word) => word.replace(PLACEHOLDER, (text) => values.get(text) ?? text));
}

/** The first placeholder that is not in PLACEHOLDERS. */
export function findUnknownPlaceholder(words: readonly string[]): string | undefined {
  const found = words.flatMap((word) => word.match(PLACEHOLDER) ?? []);
  return found.find((text) => !(PLACEHOLDERS as readonly string[]).includes(text));
}

/** Date and time in the schedule's zone; in UTC when this machine does not know the zone. */
export const plannedLocal = (
  plannedAt: Date,
  timezone: string,
): { readonly date: string; readonly time: string } =>
  isoInZone(plannedAt, isZone(timezone) ? timezone : "UTC");

/**
 * Name of the batch of a run, like `schedule nightly-index 2026-11-22T01:00:00+01:00`: unlikely to equal a name that its command
 * chooses.
 */
export const plannedName = (schedule: string, plannedAt: Date, timezone: string): string =>
  `schedule ${schedule} ${plannedLocal(plannedAt, timezone).time}`;
