import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandHandler, Invocation } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { findSchedule, selectNow } from "../../shared/db/schedules/read-schedules.ts";
import { putSchedule } from "../../shared/db/schedules/write-schedules.ts";
import { Failure } from "../../shared/failure.ts";
import { DEFAULT_CATCH_UP } from "../../shared/schedules/schedule-entry.ts";
import type { ScheduleEntry } from "../../shared/schedules/schedule-entry.ts";
import { localZone } from "../../shared/zoned-time.ts";
import { assertHolds } from "../find-named-schedule.ts";
import { nextTimes, scheduleJson, showPlanned } from "../print/describe-schedule.ts";
import { hintTicking } from "../wait/hint-worker.ts";
import { argumentOf, textOf } from "./read-options.ts";

/** Adds a schedule, or replaces one that was added so before. */
export const scheduleSet: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { terminal } = context;
  const entry = entryOf(invocation);
  assertHolds(entry);
  return withDatabase(context, "create", async (database) => {
    if (!(await putSchedule(database, entry, "set")))
      throw fromTheFile(entry.name, context.config.file);
    const schedule = await findSchedule(database, entry.name);
    if (schedule === undefined) throw new Error(`schedule ${entry.name} was removed at once`);
    const now = await selectNow(database);
    if (invocation.options["json"] === true) {
      await terminal.printJson(scheduleJson(schedule, now, undefined));
    }
    const [next] = nextTimes(schedule, now);
    terminal.say(
      next === undefined
        ? `Schedule ${entry.name} is set, and off. Switch it on with: nightdesk schedule enable ${entry.name}`
        : `Schedule ${entry.name} is set. It runs next at ${showPlanned(next, entry.timezone)} (${entry.timezone}).`,
    );
    if (schedule.enabled) await hintTicking(context, database);
    return EXIT.ok;
  });
};

function entryOf(invocation: Invocation): ScheduleEntry {
  const { options, args } = invocation;
  const cron = textOf(options, "cron");
  if (cron === undefined) {
    throw new Failure(
      "USAGE_ERROR",
      `--cron is missing: when to run, as in --cron "0 1 * * *" --timezone Europe/Berlin.`,
    );
  }
  return {
    name: argumentOf(invocation),
    cron,
    timezone: textOf(options, "timezone") ?? localZone(),
    command: args.slice(1),
    catchUp: textOf(options, "catchUp") ?? DEFAULT_CATCH_UP,
    enabled: options["off"] !== true,
  };
}

const fromTheFile = (name: string, file: string): Failure =>
  new Failure(
    "INPUT_INVALID",
    `Schedule ${JSON.stringify(name)} comes from a configuration (${file}): change it there and start the worker again, ` +
      "or take another name. schedule enable and schedule disable switch it.",
  );
