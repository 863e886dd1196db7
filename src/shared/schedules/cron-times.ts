import { createRequire } from "node:module";
import type { CronExpression, CronExpressionParser } from "cron-parser";
import { isZone, occurrencesOf, offsetMs } from "./time.ts";

/**
 * The times of a cron expression in a zone. A time that a change of the clock leaves out comes at the end of the gap;
 * one that occurs twice counts the first time only, unless the expression names every hour of the day.
 */
export type CronTimes = {
  /** The first time after this one. */
  next(after: Date): Date;
  /** The last time that is not after this one. */
  previous(at: Date): Date;
};

const require = createRequire(import.meta.url);

const NICKNAMES = /^@(yearly|annually|monthly|weekly|daily|hourly)$/;
const FIELDS = /^[\w*,/#?-]+(\s+[\w*,/#?-]+){4}$/;
/** The package draws such a field by lot, and every process would draw another one. */
const DRAWN = /(^|[\s,])H([\s,/]|$)/i;
/** How far from a change of the clock a wall-clock time can be taken for another: more than any zone shifts. */
const NEAR_MS = 3 * 3_600_000;

/** @returns the times, or what is wrong with expression or zone, to follow "expected" */
export function parseCron(
  cron: string,
  timezone: string,
):
  | { readonly ok: true; readonly times: CronTimes }
  | { readonly ok: false; readonly reason: string } {
  if (!isZone(timezone)) {
    return {
      ok: false,
      reason: `${JSON.stringify(timezone)} is no time zone; expected one like "Europe/Berlin" or "UTC"`,
    };
  }
  if (!NICKNAMES.test(cron) && (!FIELDS.test(cron) || DRAWN.test(cron))) {
    return notCron(cron, "it has not five fields of numbers, names, *, -, / and commas");
  }
  try {
    const times = timesOf(parse(cron), cron, timezone);
    times.next(new Date(0));
    return { ok: true, times };
  } catch (error) {
    return notCron(cron, error instanceof Error ? lowerFirst(error.message) : "a time that comes");
  }
}

const notCron = (cron: string, why: string) =>
  ({
    ok: false,
    reason: `${JSON.stringify(cron)} is no cron expression (${why}); expected minute, hour, day of month, month and day of week, like "0 22 * * 1-5"`,
  }) as const;

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

// Loaded by whoever has a schedule, which most commands have not.
const parserOf = (): typeof CronExpressionParser =>
  (require("cron-parser") as { CronExpressionParser: typeof CronExpressionParser })
    .CronExpressionParser;

/** In UTC, where every wall-clock time occurs once: around a change of the clock the package's own two directions differ. */
const parse = (cron: string, wall = 0): CronExpression =>
  parserOf().parse(cron, { tz: "UTC", currentDate: new Date(wall) });

function timesOf(expression: CronExpression, cron: string, zone: string): CronTimes {
  const everyHour = expression.fields.hour.values.length === 24;
  const instants = (wall: number): readonly number[] => {
    const { first, others, isGap } = occurrencesOf(wall, zone);
    if (!everyHour) return [first];
    return isGap ? [] : [first, ...others];
  };
  return {
    next(after) {
      const at = after.getTime();
      const wall = at + offsetMs(at, zone);
      const overlap = Math.max(0, offsetMs(at, zone) - offsetMs(at + NEAR_MS, zone));
      const walls = parse(cron, wall - overlap - 1);
      let best = Infinity;
      for (let current = -Infinity; best === Infinity || current < wall + overlap;) {
        current = walls.next().getTime();
        best = Math.min(best, ...instants(current).filter((instant) => instant > at));
      }
      return new Date(best);
    },
    previous(before) {
      const at = before.getTime();
      const wall = at + offsetMs(at, zone);
      const overlap = Math.max(0, offsetMs(at - NEAR_MS, zone) - offsetMs(at, zone));
      const walls = parse(cron, wall + overlap + 1);
      let best = -Infinity;
      for (let current = Infinity; best === -Infinity || current > wall - overlap;) {
        current = walls.prev().getTime();
        best = Math.max(best, ...instants(current).filter((instant) => instant <= at));
      }
      return new Date(best);
    },
  };
}
