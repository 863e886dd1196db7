import { z } from "zod";
import type { ScheduleEntry } from "../../schedules/schedule.ts";
import type { Database, Queryable } from "../connection/database.ts";
import { anyRow, camelRow, execute, rowOf, rowsOf, valueOf } from "../connection/rows.ts";

/** Without payload: a listener reads the rows of schedules. */
export const SCHEDULES_CHANNEL = "nightdesk_schedules";

const scheduleSchema = camelRow({
  name: z.string(),
  origin: z.enum(["file", "set"]),
  cron: z.string(),
  timezone: z.string(),
  command: z.array(z.string()),
  catch_up: z.string(),
  enabled: z.boolean(),
  since: z.date(),
});

/** An effective schedule: `enabled` is the configured value, unless a user has switched it since. */
export type Schedule = z.infer<typeof scheduleSchema>;

const COLUMNS = `name, origin, cron, timezone, command, catch_up, coalesce(switched, enabled) as enabled, since`;

/** All schedules, by name. */
export const selectSchedules = (db: Queryable): Promise<readonly Schedule[]> =>
  rowsOf(db, scheduleSchema)`
     select ${COLUMNS} from nightdesk_data.schedules order by name collate "C"`;

export const findSchedule = (db: Queryable, name: string): Promise<Schedule | undefined> =>
  rowOf(db, scheduleSchema, [name])`
     select ${COLUMNS} from nightdesk_data.schedules where name = $1`;

const lastRunSchema = camelRow({
  schedule: z.string(),
  planned_at: z.date(),
  cause: z.enum(["tick", "missed", "by_hand"]),
  batch: z.string().nullable(),
  state: z.string().nullable(),
  code: z.string().nullable(),
});
export type LastRun = z.infer<typeof lastRunSchema>;

/**
 * The newest run of each schedule, with the state of its job; batch and state are null when the batch was deleted. The state is
 * `partial` when the command ended with exit code 3, because a part of its work was refused or failed.
 */
export async function selectLastRuns(db: Queryable): Promise<ReadonlyMap<string, LastRun>> {
  const rows = await rowsOf(db, lastRunSchema)`
     select distinct on (r.schedule) r.schedule, r.planned_at, r.cause, b.name as batch, j.error_code as code,
            case when j.state = 'succeeded' and u.summary ->> 'exit_code' = '3' then 'partial' else j.state end as state
       from nightdesk_data.schedule_runs r
       left join nightdesk_data.batches b using (batch_id)
       left join nightdesk_data.jobs j using (batch_id)
       left join nightdesk_data.runs u on u.run_id = j.run_id
      order by r.schedule, r.made_at desc`;
  return new Map(rows.map((run) => [run.schedule, run]));
}

/** The time of the database's clock. */
export const selectNow = (db: Queryable): Promise<Date> =>
  valueOf(db, z.date())`select clock_timestamp() as now`;

/**
 * Stores a schedule, or replaces the one with its name and origin. Its times count from now on, without missed ones, when it is
 * new, its times change, or it is switched on. A switch by hand stays until the entry's own `enabled` changes.
 * @returns false when a schedule with that name has another origin
 */
export async function putSchedule(
  db: Queryable,
  { name, cron, timezone, command, catchUp, enabled }: ScheduleEntry,
  origin: "file" | "set",
): Promise<boolean> {
  const isWritten = await anyRow(db, [name, origin, cron, timezone, command, catchUp, enabled])`
     insert into nightdesk_data.schedules as s (name, origin, cron, timezone, command, catch_up, enabled)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (name) do update set
       cron = excluded.cron, timezone = excluded.timezone, command = excluded.command,
       catch_up = excluded.catch_up, enabled = excluded.enabled,
       switched = case when s.enabled = excluded.enabled then s.switched end,
       since = case when (s.cron, s.timezone) <> (excluded.cron, excluded.timezone)
                      or not coalesce(s.switched, s.enabled)
                         and coalesce(case when s.enabled = excluded.enabled then s.switched end, excluded.enabled)
                    then clock_timestamp() else s.since end
      where s.origin = excluded.origin`;
  await notifySchedules(db);
  return isWritten;
}

/** Switches a schedule on or off, regardless of its entry. When switched on, its times count from now on. */
export async function switchSchedule(db: Queryable, name: string, to: "on" | "off"): Promise<void> {
  await execute(db, [name, to === "on"])`
     update nightdesk_data.schedules
        set switched = $2, since = case when $2 and not coalesce(switched, enabled) then clock_timestamp() else since end
      where name = $1`;
  await notifySchedules(db);
}

/** Removes a schedule; its runs stay. @returns whether it existed */
export async function removeSchedule(db: Queryable, name: string): Promise<boolean> {
  const isRemoved = await anyRow(db, [name])`
     delete from nightdesk_data.schedules where name = $1`;
  await notifySchedules(db);
  return isRemoved;
}

const notifySchedules = (db: Queryable): Promise<void> =>
  execute(db)`select pg_notify('${SCHEDULES_CHANNEL}', '')`;

/**
 * Replaces the schedules of origin `file` by those of a configuration; equal entries change nothing.
 * @returns names of entries that were left out because a schedule of that name was set by hand
 */
export async function replaceFileSchedules(
  database: Database,
  entries: readonly ScheduleEntry[],
): Promise<readonly string[]> {
  return database.transaction(async (db) => {
    const leftOut: string[] = [];
    await execute(db, [entries.map(({ name }) => name)])`
       delete from nightdesk_data.schedules where origin = 'file' and name <> all($1::text[])`;
    for (const entry of entries) {
      if (!(await putSchedule(db, entry, "file"))) leftOut.push(entry.name);
    }
    return leftOut;
  });
}
