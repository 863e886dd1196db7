import type { Invocation } from "../../shared/commands/command.ts";
import type { BatchSettings } from "../../shared/db/jobs/batch-settings.ts";
import { Failure } from "../../shared/failure.ts";
import { parseWindow } from "../../shared/windows.ts";
import { localZone } from "../../shared/zoned-time.ts";
import { parseDeadline } from "./parse-deadline.ts";
import { said, textOf } from "./read-options.ts";

type Options = Invocation["options"];

/**
 * What `--windows`, `--no-windows`, `--now`, `--deadline` and `--priority` decide; and nothing else.
 * @throws Failure USAGE_ERROR for a value that is none
 */
export function batchSettingsOf(options: Options, now: Date = new Date()): BatchSettings {
  const deadline = textOf(options, "deadline");
  return said({
    windows: windowsOf(options),
    deadlineAt: deadline === undefined ? undefined : deadlineOf(deadline, now),
    priority: priorityOf(textOf(options, "priority")),
  });
}

const deadlineOf = (text: string, now: Date): Date | null =>
  text === "none" ? null : parseDeadline(text, now, localZone());

/** Empty for always, null for those of the desk. */
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
