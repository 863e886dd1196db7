import { findDates } from "../answer/find-dates.ts";

/**
 * The one full date that a text names, as YYYY-MM-DD; null where it names none, more than one, one without its year, one
 * whose day and month could be either, or a day that no calendar has.
 */
export function dayInText(text: string): string | null {
  const days = new Set(
    findDates(text).flatMap(({ asks }) =>
      asks.flatMap((readings) =>
        readings.filter((reading) => reading.startsWith("d:")).map((reading) => reading.slice(2)),
      ),
    ),
  );
  const [day] = days;
  return days.size === 1 && day !== undefined && isInCalendar(day) ? day : null;
}

function isInCalendar(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}
