import { parseCommandWords } from "../commands/build-program.ts";
import type { ConfigValues } from "../config/schema.ts";
import { parseCron } from "./cron-times.ts";
import { Failure } from "../failure.ts";
import { parseDuration } from "./time.ts";
import { fillPlaceholders, findUnknownPlaceholder, PLACEHOLDERS } from "./placeholders.ts";

/** A schedule from the configuration or from `schedule set`. */
export type ScheduleEntry = {
  readonly name: string;
  /** Five fields, or `@daily` and the like. */
  readonly cron: string;
  /** IANA name. */
  readonly timezone: string;
  /** Words after `nightdesk`, with placeholders. */
  readonly command: readonly string[];
  /** A missed time still runs when it is at most this old, like `12h`; `0`: never. */
  readonly catchUp: string;
  readonly enabled: boolean;
};

export const DEFAULT_CATCH_UP = "12h";

/** Commands that a schedule may run: none that runs forever, changes schedules, or needs a reader. */
const SCHEDULED_COMMANDS = [
  "sync",
  "index",
  "embed",
  "summarize",
  "extract",
  "ask",
  "digest",
  "enqueue",
  "batch rerun",
  "batch report",
  "batch export",
  "batch prune",
  "write-back",
  "prune",
  "doctor",
  "backup",
] as const;

/** Options that the worker passes to the command, the same for all of its work. */
const WORKERS_OWN = ["config", "workroot", "ollamaBaseUrl", "logLevel"] as const;

type ScheduleProblem = {
  readonly key: "name" | "cron" | "timezone" | "command" | "catch_up";
  /** Follows the key: the value, and the expected form. */
  readonly text: string;
};

/** Options that read stdin for `-`. */
const FROM_STDIN = ["filesFrom", "examples"];

/** The problems of a schedule, key by key. */
export function checkSchedule(entry: ScheduleEntry): readonly ScheduleProblem[] {
  return [
    ...checkName(entry.name),
    ...checkTimes(entry),
    ...checkCatchUp(entry.catchUp),
    ...checkCommand(entry),
  ];
}

/** @throws Failure INPUT_INVALID with all problems of the schedule */
export function assertValidSchedule(entry: ScheduleEntry): void {
  const problems = checkSchedule(entry).map(({ key, text }) => `${key} ${text}`);
  if (problems.length === 0) return;
  throw new Failure(
    "INPUT_INVALID",
    `Schedule ${JSON.stringify(entry.name)}: ${problems.join("; ")}.`,
  );
}

function checkName(name: string): ScheduleProblem[] {
  if (/^[a-z0-9][a-z0-9_-]{0,63}$/.test(name)) return [];
  const text = `is ${quote(name)}; expected up to 64 lower-case letters, digits, - and _`;
  return [{ key: "name", text }];
}

/** A list of every minute of an hour takes 170. */
const MOST_CRON_CHARS = 500;
const MOST_ZONE_CHARS = 100;

function checkTimes({ cron, timezone }: ScheduleEntry): ScheduleProblem[] {
  if (timezone.length > MOST_ZONE_CHARS) {
    const text = `is ${quote(timezone)}; expected at most ${MOST_ZONE_CHARS} characters`;
    return [{ key: "timezone", text }];
  }
  const zone = parseCron("@daily", timezone);
  if (!zone.ok) return [{ key: "timezone", text: `does not hold: ${zone.reason}` }];
  if (cron.length > MOST_CRON_CHARS) {
    const text = `is ${quote(cron)}; expected at most ${MOST_CRON_CHARS} characters`;
    return [{ key: "cron", text }];
  }
  const read = parseCron(cron, timezone);
  return read.ok ? [] : [{ key: "cron", text: `does not hold: ${read.reason}` }];
}

function checkCatchUp(catchUp: string): ScheduleProblem[] {
  if (parseCatchUp(catchUp) !== undefined) return [];
  const text = `is ${quote(catchUp)}; expected a duration like "90m", "12h" or "2d", or "0" for never`;
  return [{ key: "catch_up", text }];
}

function checkCommand({ name, command }: ScheduleEntry): ScheduleProblem[] {
  const problem = findCommandProblem(name, command);
  if (problem === undefined) return [];
  const words = shorten(command.slice(0, MOST_SHOWN).join(" "));
  return [{ key: "command", text: `(${words}) can't run: ${problem}` }];
}

const MOST_SHOWN = 100;
const shorten = (text: string): string =>
  text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
const quote = (text: string): string => JSON.stringify(shorten(text));

/** Limits for the command as a whole: an argument of a process, and a list that a person wrote. */
const MOST_COMMAND_CHARS = 100_000;
const MOST_WORDS = 1_000;

/** Why a row can't store the words, or no process could start with them; undefined when both can. */
function findUnusable(words: readonly string[]): string | undefined {
  if (words.length > MOST_WORDS)
    return `it has more than ${MOST_WORDS.toLocaleString("en-US")} words`;
  if (words.reduce((sum, word) => sum + word.length, 0) > MOST_COMMAND_CHARS) {
    return `it is longer than ${MOST_COMMAND_CHARS.toLocaleString("en-US")} characters`;
  }
  const place = words.findIndex((word) => word.includes("\0") || !word.isWellFormed());
  return place === -1
    ? undefined
    : `word ${place + 1} holds a NUL character or half of a surrogate pair`;
}

function findCommandProblem(schedule: string, words: readonly string[]): string | undefined {
  const unusable = findUnusable(words);
  if (unusable !== undefined) return unusable;
  const unknown = findUnknownPlaceholder(words);
  if (unknown !== undefined) {
    return `${unknown} is no placeholder; expected ${PLACEHOLDERS.join(", ")}`;
  }
  if (!isScheduled(words)) {
    return `expected one of ${SCHEDULED_COMMANDS.join(", ")}, in words of their own, as in [index] or [batch, report, …]`;
  }
  // Any time will do: only the options are checked.
  const at = { schedule, plannedAt: new Date(0), timezone: "UTC" };
  const read = parseCommandWords(fillPlaceholders(words, at));
  if (!read.ok) return read.reason;
  const own = WORKERS_OWN.find((option) => read.options[option] !== undefined);
  if (own !== undefined) {
    return `--${own.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} is the worker's, which runs it with its own`;
  }
  if (read.args.includes("-") || FROM_STDIN.some((option) => read.options[option] === "-")) {
    return "nobody writes to its stdin; expected a file in place of -";
  }
  return undefined;
}

const isScheduled = (words: readonly string[]): boolean =>
  SCHEDULED_COMMANDS.some((name) => name.split(" ").every((word, place) => words[place] === word));

/** The schedules of a configuration, in its order. */
export const configuredSchedules = ({
  schedules,
}: Pick<ConfigValues, "schedules">): readonly ScheduleEntry[] =>
  schedules.map(({ catch_up, enabled, ...entry }) => ({
    ...entry,
    catchUp: catch_up ?? DEFAULT_CATCH_UP,
    enabled: enabled ?? true,
  }));

/** Milliseconds of a duration like `90m`, `12h` or `2d`; 0 for `0`. @returns undefined for other text */
export const parseCatchUp = (text: string): number | undefined =>
  text === "0" ? 0 : parseDuration(text);
