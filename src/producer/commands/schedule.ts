import {
  databaseCommand,
  openContext,
  withDatabase,
} from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler, Invocation } from "../../shared/commands/command.ts";
import type { Config } from "../../shared/config/schema.ts";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { queueScheduleRun } from "../../shared/store/schedules/schedule-runs.ts";
import {
  findSchedule,
  putSchedule,
  removeSchedule,
  selectNow,
  selectSchedules,
  switchSchedule,
} from "../../shared/store/schedules/schedules.ts";
import type { Schedule } from "../../shared/store/schedules/schedules.ts";
import { Failure } from "../../shared/failure.ts";
import { nextTimes } from "../../shared/schedules/next-times.ts";
import {
  assertValidSchedule,
  configuredSchedules,
  DEFAULT_CATCH_UP,
} from "../../shared/schedules/schedule.ts";
import type { ScheduleEntry } from "../../shared/schedules/schedule.ts";
import { localZone } from "../../shared/schedules/time.ts";
import { hintNames } from "../../shared/text/close-names.ts";
import { hintTicking, hintWorker } from "../watch/obstacles.ts";
import { argumentOf, textOf } from "./options.ts";
import { scheduleJson, showPlanned } from "./schedule-list.ts";
import { quoteForShell } from "../../shared/terminal/styled-text.ts";

/** Adds a schedule, or replaces one that this command added. */
export const scheduleSet: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { terminal } = context;
  const entry = entryOf(invocation);
  assertValidSchedule(entry);
  return withDatabase(context, "create", async (database) => {
    if (!(await putSchedule(database, entry, "set")))
      throw fromTheFile(entry.name, context.config.file);
    const schedule = await findSchedule(database, entry.name);
    if (schedule === undefined) throw new Error(`schedule ${entry.name} was removed at once`);
    const now = await selectNow(database);
    if (terminal.isJson) await terminal.printJson(scheduleJson(schedule, now, undefined));
    const [next] = nextTimes(schedule, now);
    terminal.say(
      next === undefined
        ? `Schedule ${entry.name} is set, and off. Switch it on with: nightdesk schedule enable ${entry.name}`
        : `Schedule ${entry.name} is set. It runs next at ${showPlanned(next, entry.timezone)} (${entry.timezone}).`,
    );
    if (schedule.enabled) await hintTicking(context, database);
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

/** Enables a schedule, whatever its entry says; missed times do not count. */
export const scheduleEnable: CommandHandler = async (invocation) =>
  switchNamed(await openContext(invocation), "on");

/** Disables a schedule, whatever its entry says; running jobs go on. */
export const scheduleDisable: CommandHandler = async (invocation) =>
  switchNamed(await openContext(invocation), "off");

function switchNamed(context: CommandContext, to: "on" | "off"): Promise<void> {
  const { invocation, config, terminal } = context;
  const name = argumentOf(invocation);
  return withDatabase(context, "create", async (database) => {
    const before = await findNamedSchedule(database, config, name);
    // While a schedule is off, only its name is checked.
    if (to === "on") assertValidSchedule(before);
    await switchSchedule(database, name, to);
    const schedule = (await findSchedule(database, name)) ?? before;
    const now = await selectNow(database);
    if (terminal.isJson) await terminal.printJson(scheduleJson(schedule, now, undefined));
    terminal.say(formatSwitched(schedule, now));
    if (to === "on") await hintTicking(context, database);
  });
}

function formatSwitched(schedule: Schedule, now: Date): string {
  const [next] = nextTimes(schedule, now);
  return next === undefined
    ? `Schedule ${schedule.name} is off. What it has queued goes on.`
    : `Schedule ${schedule.name} is on. It runs next at ${showPlanned(next, schedule.timezone)} (${schedule.timezone}).`;
}

/** Removes a schedule that `schedule set` added; its batches stay. */
export const scheduleRemove = databaseCommand(
  async ({ config, terminal, invocation }, database) => {
    const name = argumentOf(invocation);
    const { origin } = await findNamedSchedule(database, config, name);
    if (origin === "file") {
      throw new Failure(
        "INPUT_INVALID",
        `Schedule ${JSON.stringify(name)} comes from a configuration: remove it there and start the worker again, ` +
          `or switch it off with: nightdesk schedule disable ${name}`,
      );
    }
    await removeSchedule(database, name);
    if (terminal.isJson) await terminal.printJson({ ok: true, name });
    terminal.say(`Removed schedule ${name}. The batches that it made stay.`);
  },
);

/** Runs a schedule now, in addition to its times, even if it is off. */
export const scheduleRun: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { terminal, config } = context;
  const name = argumentOf(invocation);
  return withDatabase(context, "create", async (database) => {
    const schedule = await findNamedSchedule(database, config, name);
    assertValidSchedule(schedule);
    const made = await queueScheduleRun(database, schedule, await selectNow(database), "by_hand");
    if (made === undefined) {
      throw new Failure(
        "INPUT_INVALID",
        `Schedule ${name} was run at this very moment; run it again.`,
      );
    }
    const { batchId, batch } = made;
    if (terminal.isJson) {
      await terminal.printJson({ ok: true, schedule: name, batch_id: batchId, batch });
    } else {
      await terminal.print(batch);
      terminal.say(`Queued. To wait for it: nightdesk batch wait ${quoteForShell(batch)}`);
    }
    await hintWorker(context, database);
  });
};

/**
 * The schedule of that name. If only the configuration has it, because no worker has started with it yet, it is
 * stored first.
 * @throws Failure NOT_FOUND with similar names, INPUT_INVALID if its entry is invalid
 */
async function findNamedSchedule(db: Queryable, config: Config, name: string): Promise<Schedule> {
  const known = await findSchedule(db, name);
  if (known !== undefined) return known;
  const entries = configuredSchedules(config);
  const entry = entries.find((candidate) => candidate.name === name);
  if (entry === undefined) {
    const names = [...entries, ...(await selectSchedules(db))].map((schedule) => schedule.name);
    throw notFound(name, [...new Set(names)]);
  }
  assertValidSchedule(entry);
  await putSchedule(db, entry, "file");
  return findNamedSchedule(db, { ...config, schedules: [] }, name);
}

function notFound(name: string, names: readonly string[]): Failure {
  const hint = hintNames(name, names, "nightdesk schedule list shows all.");
  return new Failure("NOT_FOUND", `There is no schedule ${JSON.stringify(name)}; ${hint}`);
}
