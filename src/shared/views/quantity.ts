import { formatInZone, isoInZone, localZone } from "../schedules/time.ts";

/** `1,234`. */
export const formatCount = (value: number): string =>
  String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");

/** `1 job`, `1,234 jobs`. */
export const countOf = (value: number, noun: string): string =>
  `${formatCount(value)} ${noun}${value === 1 ? "" : "s"}`;

/** An amount in the currency of the prices: `12.50`, and `0.0034` if it is less than one. */
export const formatMoney = (amount: number): string => amount.toFixed(amount < 1 ? 4 : 2);

/** A duration for people: `12 ms`, `3.4 s`, `2 min 5 s`, `3 h 12 min`. A negative one means that the clock was set back. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 0) return "an unknown time, since the clock went back";
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1_000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  const minutes = Math.round(whole / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/**
 * `2026-11-21 22:04:11Z`, or the local time of a zone: `2026-11-21 23:04:11 CET`.
 * @param zone of the terminal; null for output to a program, a file or a pipe
 */
export const formatTime = (
  time: Date,
  zone: string | null = null,
  precision: "minutes" | "seconds" = "seconds",
): string =>
  zone === null
    ? `${time.toISOString().slice(0, 19).replace("T", " ")}Z`
    : formatInZone(time, zone, precision);

/**
 * `2026-11-22 02:10:00Z to 03:40:00Z`, with a second day if it differs; `since …` while the span is open.
 * @param zone as for `formatTime`
 */
export const formatSpan = (from: Date, to: Date | null, zone: string | null = null): string =>
  spanOf(from, to, (time) => formatTime(time, zone));

function spanOf(from: Date, to: Date | null, format: (time: Date) => string): string {
  const start = format(from);
  if (to === null) return `since ${start}`;
  const end = format(to);
  const [day = ""] = start.split(" ");
  return `${start} to ${end.startsWith(day) ? end.slice(day.length + 1) : end}`;
}

/** The timezone of a page. `each_time`: each time names the zone, because its UTC offset changes within the page. */
export type Clock = { readonly zone: string; readonly zoneSaid: "once" | "each_time" };

/** A time on a page with that clock: `2026-11-21 23:04:11`, with the zone unless the page names it once. */
export function formatOnClock(
  time: Date,
  clock: Clock | undefined,
  precision: "minutes" | "seconds" = "seconds",
): string {
  if (clock === undefined) return formatTime(time, null, precision);
  if (clock.zoneSaid === "each_time") return formatTime(time, clock.zone, precision);
  const shown = isoInZone(time, clock.zone).time.replace("T", " ");
  return shown.slice(0, precision === "minutes" ? 16 : 19);
}

/** The same for a span: `2026-11-22 02:10:00 to 03:40:00`. */
export function formatSpanOnClock(from: Date, to: Date | null, clock: Clock | undefined): string {
  return spanOf(from, to, (time) => formatOnClock(time, clock));
}

/** A time in local time and in UTC: `2026-11-21 22:00 CET (2026-11-21 21:00:00Z)`. */
export function formatMoment(time: Date, zone: string = localZone()): string {
  const local = formatInZone(time, zone);
  return local.endsWith(" UTC") ? formatTime(time) : `${local} (${formatTime(time)})`;
}

/** Counts by kind: `pictures: 2, encrypted parts: 1`. */
export const countsByKind = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([kind, count]) => `${kind}: ${formatCount(count)}`)
    .join(", ");
