import { createRequire } from "node:module";
import type { CronExpression, CronExpressionParser } from "cron-parser";
import { isZone, occurrencesOf, offsetMs } from "./time.ts";

/**
 * The times of a cron expression in a zone. A time that a clock change skips becomes the end of the gap. A time that occurs twice
 * counts once, the first, unless the expression includes every hour of the day.
 */
export type CronTimes = {
  /** The first time after `after`. */
  next(after: Date): Date;
  /** The last time at or before `at`. */
  previous(at: Date): Date;
};

const require = createRequire(import.meta.url);

const NICKNAMES = /^@(yearly|annually|monthly|weekly|daily|hourly)$/;
const FIELDS = /^[\w*,/#?-]+(\s+[\w*,/#?-]+){4}$/;
/** `H` makes the package choose a random value, and every process would choose another one. */
const DRAWN = /\bH\b/i;
/** Within this distance of a clock change a wall-clock time can be ambiguous: more than any zone shifts. */
const NEAR_MS = 3 * 3_600_000;

/** @returns the times, or the fault of the expression or zone, to follow "expected" */
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
    return badCron(cron, "it has not five fields of numbers, names, *, -, / and commas");
  }
  try {
    const times = timesOf(parse(cron), cron, timezone);
    times.next(new Date(0));
    return { ok: true, times };
  } catch (error) {
    return badCron(cron, error instanceof Error ? lowerFirst(error.message) : "a time that comes");
  }
}

const badCron = (cron: string, why: string) =>
  ({
    ok: false,
    reason: `${JSON.stringify(cron)} is no cron expression (${why}); expected minute, hour, day of month, month and day of week, like "0 22 * * 1-5"`,
  }) as const;

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

// Loaded on demand: most commands need no schedule.
const parserOf = (): typeof CronExpressionParser =>
  (require("cron-parser") as { CronExpressionParser: typeof CronExpressionParser })
    .CronExpressionParser;

/** In UTC, where every wall-clock time occurs once: near a clock change the package's `next` and `prev` disagree. */
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
