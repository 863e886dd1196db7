import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import {
  selectLastRuns,
  selectNow,
  selectSchedules,
} from "../../shared/db/schedules/read-schedules.ts";
import type { LastRun, Schedule } from "../../shared/db/schedules/read-schedules.ts";
import { configuredSchedules } from "../../shared/schedules/configured-schedules.ts";
import {
  describeLastRun,
  nextTimes,
  scheduleJson,
  showPlanned,
} from "../print/describe-schedule.ts";
import { printList } from "../print/table.ts";
import type { TableColumn } from "../print/table.ts";
import { hintTicking } from "../wait/hint-worker.ts";

type Listed = {
  readonly schedules: readonly Schedule[];
  readonly lastRuns: ReadonlyMap<string, LastRun>;
  readonly now: Date;
};

/** All schedules, with the next three times of those that are on and the last run. */
export const scheduleList: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  return withDatabase(context, "must-exist", async (database) => {
    const listed = {
      schedules: await selectSchedules(database),
      lastRuns: await selectLastRuns(database),
      now: await selectNow(database),
    };
    if (invocation.options["json"] === true) await printJson(context, listed);
    else await printTable(context, listed);
    sayUntaken(context, listed);
    if (listed.schedules.some(({ enabled }) => enabled)) await hintTicking(context, database);
    return EXIT.ok;
  });
};

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
  await printList(terminal, COLUMNS, rows);
}

const COLUMNS: readonly TableColumn[] = [
  { title: "schedule", align: "left", cut: "middle", least: 12 },
  { title: "is", align: "left" },
  { title: "from", align: "left", leftOut: 1 },
  { title: "cron", align: "left", leftOut: 3 },
  { title: "time zone", align: "left", leftOut: 2 },
  { title: "next", align: "left" },
  { title: "last run", align: "left", leftOut: 5 },
  { title: "command", align: "left", least: 12, leftOut: 4 },
];

/** One row a schedule, and two more for its later times. */
function rowsOf(
  schedule: Schedule,
  last: LastRun | undefined,
  now: Date,
): readonly (readonly (string | null)[])[] {
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
      describeLastRun(last, timezone),
      command.join(" "),
    ],
    ...later.map((time) => ["", "", "", "", "", time, "", ""]),
  ];
}

function sayUntaken({ config, terminal }: CommandContext, { schedules }: Listed): void {
  const known = new Set(schedules.map(({ name }) => name));
  const untaken = configuredSchedules(config).filter(({ name }) => !known.has(name));
  if (untaken.length === 0) return;
  const names = untaken.map(({ name, enabled }) => (enabled ? name : `${name} (off)`));
  terminal.say(`In the configuration, and taken over when a worker starts: ${names.join(", ")}.`);
}
