import { isoInZone, isZone } from "./time.ts";

/** What `{…}` may say in the words of a schedule's command, for messages. */
export const PLACEHOLDERS = ["{planned}", "{date}", "{schedule}"] as const;

const PLACEHOLDER = /\{[a-z_]+\}/g;

/**
 * The words of a command for one planned time: `{schedule}` is its name, `{planned}` the time with its offset from UTC,
 * `{date}` the day, both by the schedule's clock.
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

/** The first `{name}` that would be left as it is. */
export function findUnknownPlaceholder(words: readonly string[]): string | undefined {
  const found = words.flatMap((word) => word.match(PLACEHOLDER) ?? []);
  return found.find((text) => !(PLACEHOLDERS as readonly string[]).includes(text));
}

/** A time as the schedule's zone shows it; UTC where this machine does not know the zone. */
export const plannedLocal = (
  plannedAt: Date,
  timezone: string,
): { readonly date: string; readonly time: string } =>
  isoInZone(plannedAt, isZone(timezone) ? timezone : "UTC");

/**
 * Name of the batch of a run, like `schedule nightly-index 2026-11-22T01:00:00+01:00`: not what its command is likely to
 * name the batch that it loads.
 */
export const plannedName = (schedule: string, plannedAt: Date, timezone: string): string =>
  `schedule ${schedule} ${plannedLocal(plannedAt, timezone).time}`;
