import { Failure } from "../../shared/failure.ts";
import { isZone, nextAt, parseIsoTime } from "../../shared/zoned-time.ts";

const DURATION = /^(\d{1,5})(min|h|d)$/;
const CLOCK = /^(\d{1,2}):(\d{2})(?: +(\S+))?$/;
const UNIT_MS = { min: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * When a deadline is: a duration from now like `8h`, the next `06:00` of a zone, or an ISO 8601 time.
 * @param zone what times without a zone are meant in
 * @throws Failure USAGE_ERROR for what is none of these, or has passed
 */
export function parseDeadline(text: string, now: Date, zone: string): Date {
  const given = text.trim();
  const time =
    afterDuration(given, now) ?? nextClock(given, now, zone) ?? parseIsoTime(given, zone);
  if (time === undefined) {
    throw new Failure(
      "USAGE_ERROR",
      `--deadline ${JSON.stringify(text)} is no time; expected a duration like 8h or 90min, a time of the day like ` +
        `"06:00" or "06:00 Europe/Berlin", or a date and time like 2026-11-22T06:00:00Z.`,
    );
  }
  if (time > now) return time;
  throw new Failure(
    "USAGE_ERROR",
    `--deadline ${JSON.stringify(text)} has passed already; expected a time to come.`,
  );
}

function afterDuration(text: string, now: Date): Date | undefined {
  const [, amount, unit] = DURATION.exec(text) ?? [];
  if (unit !== "min" && unit !== "h" && unit !== "d") return undefined;
  return new Date(now.getTime() + Number(amount) * UNIT_MS[unit]);
}

function nextClock(text: string, now: Date, zone: string): Date | undefined {
  const found = CLOCK.exec(text);
  if (found === null) return undefined;
  const [, hour, minute, named = zone] = found;
  if (Number(hour) > 23 || Number(minute) > 59) return undefined;
  if (isZone(named)) return nextAt(now, Number(hour) * 60 + Number(minute), named);
  throw new Failure(
    "USAGE_ERROR",
    `--deadline names the zone ${JSON.stringify(named)}; expected one of the IANA database like Europe/Berlin.`,
  );
}
