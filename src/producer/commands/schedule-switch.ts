import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { findSchedule, selectNow } from "../../shared/db/schedules/read-schedules.ts";
import type { Schedule } from "../../shared/db/schedules/read-schedules.ts";
import { switchSchedule } from "../../shared/db/schedules/write-schedules.ts";
import { assertHolds, findNamedSchedule } from "../find-named-schedule.ts";
import { nextTimes, scheduleJson, showPlanned } from "../print/describe-schedule.ts";
import { hintTicking } from "../wait/hint-worker.ts";
import { argumentOf } from "./read-options.ts";

/** Switches a schedule on, whatever its entry says. It counts from now. */
export const scheduleEnable: CommandHandler = async (invocation) =>
  switchNamed(await openContext(invocation), "on");

/** Switches a schedule off, whatever its entry says. What runs goes on. */
export const scheduleDisable: CommandHandler = async (invocation) =>
  switchNamed(await openContext(invocation), "off");

function switchNamed(context: CommandContext, to: "on" | "off"): Promise<number> {
  const { invocation, config, terminal } = context;
  const name = argumentOf(invocation);
  return withDatabase(context, "create", async (database) => {
    const before = await findNamedSchedule(database, config, name);
    // Of one that was off, nobody has looked at more than the name.
    if (to === "on") assertHolds(before);
    await switchSchedule(database, name, to);
    const schedule = (await findSchedule(database, name)) ?? before;
    const now = await selectNow(database);
    if (invocation.options["json"] === true) {
      await terminal.printJson(scheduleJson(schedule, now, undefined));
    }
    terminal.say(describeSwitched(schedule, now));
    if (to === "on") await hintTicking(context, database);
    return EXIT.ok;
  });
}

function describeSwitched(schedule: Schedule, now: Date): string {
  const [next] = nextTimes(schedule, now);
  return next === undefined
    ? `Schedule ${schedule.name} is off. What it has queued goes on.`
    : `Schedule ${schedule.name} is on. It runs next at ${showPlanned(next, schedule.timezone)} (${schedule.timezone}).`;
}
