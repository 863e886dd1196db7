import type { Invocation } from "../../shared/commands/command.ts";
import type { Config } from "../../shared/config/schema.ts";
import type { BatchSettings } from "../../shared/store/jobs/batch-settings.ts";
import { Failure } from "../../shared/failure.ts";
import { NEGATIVE_MODES, VERIFY_MODES } from "../../shared/job/verify-modes.ts";
import type { NegativeMode, VerifyMode } from "../../shared/job/job.ts";
import { parseWindow } from "../../shared/schedules/windows.ts";
import { isZone, localZone, nextAt, parseIsoTime } from "../../shared/schedules/time.ts";

type Options = Invocation["options"];

/** The first argument, which the command line requires. */
export function argumentOf({ args, command }: Invocation): string {
  const [first] = args;
  if (first === undefined) throw new Error(`${command.name} was called without its argument`);
  return first;
}

export const textOf = (options: Options, name: string): string | undefined => {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
};

export const countOfOption = (options: Options, name: string): number | undefined => {
  const value = options[name];
  return typeof value === "number" ? value : undefined;
};

/** The first rows of a list, and whether there are more than `--limit`. */
type LimitedRows<Row> = { readonly rows: readonly Row[]; readonly hasMore: boolean };

/** @param select is asked for one row more than the limit: a list of exactly so many rows is whole */
export async function selectUpTo<Row>(
  limit: number,
  select: (most: number) => Promise<readonly Row[]>,
): Promise<LimitedRows<Row>> {
  const found = await select(limit + 1);
  return { rows: found.slice(0, limit), hasMore: found.length > limit };
}

export const moreText = (which: "first" | "newest", limit: number): string =>
  `The ${which} ${limit}; --limit N shows more.`;

/** Drops undefined values, so that the stored input holds only what the user gave. */
export function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

/** Whether the command waits for its answer: with `--wait`, and without the option if `ask.index_first_s` is set. */
export const waitsForAnswer = (
  { options }: Pick<Invocation, "options">,
  { ask }: Config,
): boolean =>
  options["wait"] === true || (options["wait"] === undefined && ask.index_first_s !== null);

/** `--fast` or `--big`. @throws Failure USAGE_ERROR for both */
export function routeOf(options: Options): "fast" | "big" | undefined {
  const { big, fast } = options;
  if (big === true && fast === true) {
    throw new Failure("USAGE_ERROR", "--fast and --big exclude each other; give one of them.");
  }
  return big === true ? "big" : fast === true ? "fast" : undefined;
}

/** `--verify` and `--negative`; the table of options has checked both values. */
export const verificationOf = (options: Options): VerificationOptions => ({
  verify: VERIFY_MODES.find((mode) => mode === options["verify"]),
  negative: NEGATIVE_MODES.find((mode) => mode === options["negative"]),
});

type VerificationOptions = {
  readonly verify: VerifyMode | undefined;
  readonly negative: NegativeMode | undefined;
};

/** `--source`, checked. @throws Failure NOT_FOUND with the names of the configured sources */
export function sourceOf(options: Options, { index }: Config): string | undefined {
  const name = textOf(options, "source");
  if (name === undefined || index.sources.some((source) => source.name === name)) return name;
  const known = index.sources.map((source) => source.name).join(", ");
  throw new Failure(
    "NOT_FOUND",
    `There is no source ${JSON.stringify(name)}. Configured under index.sources: ${known}.`,
  );
}

/**
 * The settings of `--windows`, `--no-windows`, `--now`, `--deadline` and `--priority`.
 * @throws Failure USAGE_ERROR for an invalid value
 */
export function batchSettingsOf(options: Options): BatchSettings {
  const deadline = textOf(options, "deadline");
  return given({
    windows: windowsOf(options),
    deadlineAt: deadline === undefined ? undefined : deadlineOf(deadline),
    priority: priorityOf(textOf(options, "priority")),
  });
}

const deadlineOf = (text: string): Date | null =>
  text === "none" ? null : parseDeadline(text, new Date(), localZone());

/** Empty: at any time; null: the windows of the configuration; undefined: not given. */
function windowsOf(options: Options): readonly string[] | null | undefined {
  const given: unknown = options["windows"];
  const isNow = options["now"] === true || given === false;
  if (!Array.isArray(given)) return isNow ? [] : undefined;
  if (isNow) {
    throw new Failure("USAGE_ERROR", "--now means no windows; leave --windows or --now away.");
  }
  const texts = given.map(String);
  if (texts.length === 1 && texts[0] === "desk") return null;
  return texts.map(checkWindow);
}

function checkWindow(text: string): string {
  const parsed = parseWindow(text);
  if (parsed.ok) return text.trim();
  throw new Failure(
    "USAGE_ERROR",
    `--windows ${JSON.stringify(text)} is no window; expected ${parsed.expected}`,
  );
}

const MOST_PRIORITY = 100;

function priorityOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const priority = /^-?\d{1,3}$/.test(text) ? Number(text) : NaN;
  if (Math.abs(priority) <= MOST_PRIORITY) return priority;
  throw new Failure(
    "USAGE_ERROR",
    `--priority ${JSON.stringify(text)}; expected a whole number from -${MOST_PRIORITY} to ${MOST_PRIORITY}, higher first.`,
  );
}

const DURATION = /^(\d{1,5})(min|h|d)$/;
const CLOCK = /^(\d{1,2}):(\d{2})(?: +(\S+))?$/;
const UNIT_MS = { min: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Parses a deadline: a duration from now like `8h`, the next `06:00` of a time zone, or an ISO 8601 time.
 * @param zone the time zone of times without one
 * @throws Failure USAGE_ERROR for any other text, and for a time in the past
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
