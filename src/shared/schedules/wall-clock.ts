/** A time zone. Opening one costs more than a hundred questions to it. */
export type Zone = {
  /**
   * Milliseconds by which its wall clock is ahead of UTC at an instant.
   * @param instant milliseconds since 1970
   */
  offsetAt(instant: number): number;
};

/** @param timezone such as `Europe/Berlin` @returns undefined for one that this machine does not know */
export function openZone(timezone: string): Zone | undefined {
  const formatter = formatterOf(timezone);
  if (formatter === undefined) return undefined;
  return {
    offsetAt(instant) {
      const parts = new Map(
        formatter.formatToParts(instant).map(({ type, value }) => [type, Number(value)]),
      );
      const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? NaN;
      const wall = Date.UTC(
        part("year"),
        part("month") - 1,
        part("day"),
        part("hour"),
        part("minute"),
        part("second"),
      );
      return wall - Math.floor(instant / 1_000) * 1_000;
    },
  };
}

function formatterOf(timezone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat("en-US-u-ca-iso8601-nu-latn", {
      timeZone: timezone,
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    });
  } catch (error) {
    // Not instanceof: an error of another realm, as under a test runner, is one, too.
    if (
      typeof error === "object" &&
      error !== null &&
      "name" in error &&
      error.name === "RangeError"
    ) {
      return undefined;
    }
    throw error;
  }
}

/** When a wall-clock time occurs. In a gap `first` is the end of the gap. All in milliseconds since 1970. */
type Instants = {
  readonly first: number;
  readonly others: readonly number[];
  readonly isGap: boolean;
};

const DAY_MS = 86_400_000;

/** @param wall the wall-clock time as if it were UTC */
export function instantsOf(wall: number, zone: Zone): Instants {
  const offsets = [zone.offsetAt(wall - DAY_MS), zone.offsetAt(wall + DAY_MS)];
  const found = [...new Set(offsets.map((offset) => wall - offset))]
    .filter((instant) => instant + zone.offsetAt(instant) === wall)
    .sort((a, b) => a - b);
  const [first, ...others] = found;
  if (first !== undefined) return { first, others, isGap: false };
  const from = wall - Math.max(...offsets);
  return { first: changeAfter(from, wall - Math.min(...offsets), zone), others: [], isGap: true };
}

/** The instant at which the clock is changed, between two instants of which the first is before it. */
function changeAfter(from: number, to: number, zone: Zone): number {
  const before = zone.offsetAt(from);
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (zone.offsetAt(middle) === before) low = middle;
    else high = middle;
  }
  return high;
}

/** An instant as the zone's clocks show it: `2026-10-25`, and `2026-10-25T02:30:00+02:00`. */
export function showLocal(
  instant: Date,
  zone: Zone,
): { readonly date: string; readonly time: string } {
  const offset = zone.offsetAt(instant.getTime());
  const wall = new Date(instant.getTime() + offset).toISOString();
  const minutes = Math.abs(Math.round(offset / 60_000));
  const two = (value: number) => String(value).padStart(2, "0");
  const suffix = `${offset < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  return { date: wall.slice(0, 10), time: `${wall.slice(0, 19)}${suffix}` };
}
