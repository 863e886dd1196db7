import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { makeRun } from "../../shared/db/schedules/make-run.ts";
import { selectNow } from "../../shared/db/schedules/read-schedules.ts";
import { Failure } from "../../shared/failure.ts";
import { assertHolds, findNamedSchedule } from "../find-named-schedule.ts";
import { hintWorker } from "../wait/hint-worker.ts";
import { argumentOf } from "./read-options.ts";

/** Runs a schedule now, beside its times, also when it is off. */
export const scheduleRun: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { terminal } = context;
  const name = argumentOf(invocation);
  return withDatabase(context, "create", async (database) => {
    const schedule = await findNamedSchedule(database, context.config, name);
    assertHolds(schedule);
    const made = await makeRun(database, schedule, await selectNow(database), "by_hand");
    if (made === undefined) {
      throw new Failure(
        "INPUT_INVALID",
        `Schedule ${name} was run at this very moment; run it again.`,
      );
    }
    const { batchId, batch } = made;
    if (invocation.options["json"] === true) {
      await terminal.printJson({ ok: true, schedule: name, batch_id: batchId, batch });
    } else {
      await terminal.print(batch);
      terminal.say(`Queued. To wait for it: nightdesk batch wait ${JSON.stringify(batch)}`);
    }
    await hintWorker(context, database);
    return EXIT.ok;
  });
};
