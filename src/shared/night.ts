import { parseWindow } from "./windows.ts";
import { instantsOf, localZone } from "./zoned-time.ts";

/** A night goes from noon to noon: what runs until the morning belongs to the evening on which it began. */
export type Night = {
  /** The day on whose evening it begins, `YYYY-MM-DD`. */
  readonly date: string;
  readonly endsAt: Date;
};

const HALF_DAY_MS = 12 * 60 * 60_000;

/**
 * The night that an instant lies in: the date of twelve hours before it, in the zone of the first window, else in that
 * of this machine.
 */
export function nightOf(instant: Date, windows: readonly string[]): Night {
  const zone = zoneOf(windows);
  const evening = new Date(instant.getTime() - HALF_DAY_MS);
  const date = new Intl.DateTimeFormat("sv-SE", { timeZone: zone }).format(evening);
  const midnight = instantsOf({ instant: evening, zone }, 1, 0)[0] ?? evening;
  return { date, endsAt: new Date(midnight.getTime() + HALF_DAY_MS) };
}

function zoneOf([first]: readonly string[]): string {
  const parsed = first === undefined ? undefined : parseWindow(first);
  return parsed?.ok === true ? parsed.window.zone : localZone();
}
