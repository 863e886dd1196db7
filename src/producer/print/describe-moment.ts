import { formatInZone, localZone } from "../../shared/zoned-time.ts";
import { formatTime } from "./quantity.ts";

/** A time as the clocks here show it, and in UTC: `2026-11-21 22:00 CET (2026-11-21 21:00:00Z)`. */
export function describeMoment(time: Date, zone: string = localZone()): string {
  const local = formatInZone(time, zone);
  return local.endsWith(" UTC") ? formatTime(time) : `${local} (${formatTime(time)})`;
}
