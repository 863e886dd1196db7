import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { removeSchedule } from "../../shared/db/schedules/write-schedules.ts";
import { Failure } from "../../shared/failure.ts";
import { findNamedSchedule } from "../find-named-schedule.ts";
import { argumentOf } from "./read-options.ts";

/** Removes a schedule that `schedule set` added. What it ran stays. */
export const scheduleRemove: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const name = argumentOf(invocation);
  return withDatabase(context, "must-exist", async (database) => {
    const { origin } = await findNamedSchedule(database, context.config, name);
    if (origin === "file") {
      throw new Failure(
        "INPUT_INVALID",
        `Schedule ${JSON.stringify(name)} comes from a configuration: remove it there and start the worker again, ` +
          `or switch it off with: nightdesk schedule disable ${name}`,
      );
    }
    await removeSchedule(database, name);
    if (invocation.options["json"] === true) await context.terminal.printJson({ ok: true, name });
    context.terminal.say(`Removed schedule ${name}. The batches that it made stay.`);
    return EXIT.ok;
  });
};
