import { databaseCommand } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import {
  selectLastRuns,
  selectNow,
  selectSchedules,
} from "../../shared/store/schedules/schedules.ts";
import type { LastRun, Schedule } from "../../shared/store/schedules/schedules.ts";
import { nextTimes } from "../../shared/schedules/next-times.ts";
import { configuredSchedules } from "../../shared/schedules/schedule.ts";
import { plannedLocal } from "../../shared/schedules/placeholders.ts";
import type { Column, Row } from "../../shared/views/section.ts";
import { printList } from "../print/sections.ts";
import { hintTicking } from "../watch/obstacles.ts";

type Listed = {
  readonly schedules: readonly Schedule[];
  readonly lastRuns: ReadonlyMap<string, LastRun>;
  readonly now: Date;
};

/** Lists all schedules with their last run, and the next three times of enabled ones. */
export const scheduleList = databaseCommand(async (context, database) => {
  const listed = {
    schedules: await selectSchedules(database),
    lastRuns: await selectLastRuns(database),
    now: await selectNow(database),
  };
  if (context.terminal.isJson) await printJson(context, listed);
  else await printTable(context, listed);
  printUntaken(context, listed);
  if (listed.schedules.some(({ enabled }) => enabled)) await hintTicking(context, database);
});

const printJson = ({ terminal }: CommandContext, { schedules, lastRuns, now }: Listed) =>
  terminal.printJson(
    schedules.map((schedule) => scheduleJson(schedule, now, lastRuns.get(schedule.name))),
  );

async function printTable(
  { terminal }: CommandContext,
  { schedules, lastRuns, now }: Listed,
): Promise<void> {
  if (schedules.length === 0) {
    terminal.say(
      "There are no schedules. Add one with: nightdesk schedule set NAME --cron … -- index",
    );
    return;
  }
  const rows = schedules.flatMap((schedule) => rowsOf(schedule, lastRuns.get(schedule.name), now));
  await printList(terminal, { kind: "table", columns: COLUMNS, rows });
}

const COLUMNS: readonly Column[] = [
  { title: "schedule", align: "left", holds: "name", cut: "middle", least: 12 },
  { title: "is", align: "left" },
  { title: "from", align: "left", leftOut: 1 },
  { title: "cron", align: "left", leftOut: 3 },
  { title: "time zone", align: "left", leftOut: 2 },
  { title: "next", align: "left" },
  { title: "last run", align: "left", leftOut: 5 },
  { title: "command", align: "left", least: 12, leftOut: 4 },
];

/** One row per schedule, and more rows for its later times. */
function rowsOf(schedule: Schedule, last: LastRun | undefined, now: Date): readonly Row[] {
  const { name, enabled, origin, cron, timezone, command } = schedule;
  const [next, ...later] = nextTimes(schedule, now).map((time) => showPlanned(time, timezone));
  return [
    [
      name,
      enabled ? "on" : "off",
      origin,
      cron,
      timezone,
      next ?? null,
      formatLastRun(last, timezone),
      command.join(" "),
    ],
    ...later.map((time) => ["", "", "", "", "", time, "", ""]),
  ];
}

function printUntaken({ config, terminal }: CommandContext, { schedules }: Listed): void {
  const known = new Set(schedules.map(({ name }) => name));
  const untaken = configuredSchedules(config).filter(({ name }) => !known.has(name));
  if (untaken.length === 0) return;
  const names = untaken.map(({ name, enabled }) => (enabled ? name : `${name} (off)`));
  terminal.say(`In the configuration, and taken over when a worker starts: ${names.join(", ")}.`);
}

/** `2026-11-22 01:00+01:00`, in the schedule's time zone. */
export const showPlanned = (time: Date, timezone: string): string =>
  plannedLocal(time, timezone)
    .time.replace("T", " ")
    .replace(/:00(?=[+-])/, "");

/** A schedule in the form of `--json`. */
export const scheduleJson = (
  schedule: Schedule,
  now: Date,
  last: LastRun | undefined,
): Record<string, unknown> => ({
  name: schedule.name,
  origin: schedule.origin,
  enabled: schedule.enabled,
  cron: schedule.cron,
  timezone: schedule.timezone,
  command: schedule.command,
  catch_up: schedule.catchUp,
  next: nextTimes(schedule, now),
  last_run:
    last === undefined
      ? null
      : {
          planned_at: last.plannedAt,
          cause: last.cause,
          batch: last.batch,
          state: last.state,
          error_code: last.code,
        },
});

/** `2026-11-21 01:00+01:00 succeeded`, or another state with its error code. */
function formatLastRun(last: LastRun | undefined, timezone: string): string | null {
  if (last === undefined) return null;
  const code = last.code === null ? "" : ` ${last.code}`;
  return `${showPlanned(last.plannedAt, timezone)} ${last.state ?? "(batch deleted)"}${code}`;
}
