import { z } from "zod";
import type { ScheduleEntry } from "../../schedules/schedule.ts";
import type { Database, Queryable } from "../connection/database.ts";
import { anyRow, camelRow, execute, rowOf, rowsOf, valueOf } from "../connection/rows.ts";

/** Payload-free: whoever hears it looks at the rows of schedules. */
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

/** A schedule as it is in force: `enabled` is what was written, or what somebody switched it to since. */
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
 * The newest run of each schedule, with the state of its job; batch and state are null when the batch was deleted. The
 * state is `partial` where the command ended with exit code 3: some of what it was to do was refused or failed.
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

/** The database's clock. */
export const selectNow = (db: Queryable): Promise<Date> =>
  valueOf(db, z.date())`select clock_timestamp() as now`;

/**
 * Writes a schedule, or replaces that of its name and origin. A new one counts from now, and so does one whose times
 * changed or that is switched on by it: nothing before was missed. What was switched by hand stays so until the entry
 * itself says something else.
 * @returns whether it was written; not, when one of that name has another origin
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

/** Switches a schedule on or off, whatever its entry says. On, it counts from now. */
export async function switchSchedule(db: Queryable, name: string, to: "on" | "off"): Promise<void> {
  await execute(db, [name, to === "on"])`
     update nightdesk_data.schedules
        set switched = $2, since = case when $2 and not coalesce(switched, enabled) then clock_timestamp() else since end
      where name = $1`;
  await notifySchedules(db);
}

/** Removes a schedule; the runs that it made stay. @returns whether there was one */
export async function removeSchedule(db: Queryable, name: string): Promise<boolean> {
  const isRemoved = await anyRow(db, [name])`
     delete from nightdesk_data.schedules where name = $1`;
  await notifySchedules(db);
  return isRemoved;
}

const notifySchedules = (db: Queryable): Promise<void> =>
  execute(db)`select pg_notify('${SCHEDULES_CHANNEL}', '')`;

/**
 * Makes the schedules of origin `file` those of a configuration; again with the same entries it changes nothing.
 * @returns names of entries that give way to schedules of the same name that were set by hand
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
