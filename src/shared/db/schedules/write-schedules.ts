import type { ScheduleEntry } from "../../schedules/schedule.ts";
import type { Queryable } from "../database.ts";
import { SCHEDULES_CHANNEL } from "./read-schedules.ts";

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
  const { rowCount } = await db.query(
    `insert into nightdesk_data.schedules as s (name, origin, cron, timezone, command, catch_up, enabled)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (name) do update set
       cron = excluded.cron, timezone = excluded.timezone, command = excluded.command,
       catch_up = excluded.catch_up, enabled = excluded.enabled,
       switched = case when s.enabled = excluded.enabled then s.switched end,
       since = case when (s.cron, s.timezone) <> (excluded.cron, excluded.timezone)
                      or not coalesce(s.switched, s.enabled)
                         and coalesce(case when s.enabled = excluded.enabled then s.switched end, excluded.enabled)
                    then clock_timestamp() else s.since end
      where s.origin = excluded.origin`,
    [name, origin, cron, timezone, command, catchUp, enabled],
  );
  await notifySchedules(db);
  return rowCount === 1;
}

/** Switches a schedule on or off, whatever its entry says. On, it counts from now. */
export async function switchSchedule(db: Queryable, name: string, to: "on" | "off"): Promise<void> {
  await db.query(
    `update nightdesk_data.schedules
        set switched = $2, since = case when $2 and not coalesce(switched, enabled) then clock_timestamp() else since end
      where name = $1`,
    [name, to === "on"],
  );
  await notifySchedules(db);
}

/** Removes a schedule; the runs that it made stay. @returns whether there was one */
export async function removeSchedule(db: Queryable, name: string): Promise<boolean> {
  const { rowCount } = await db.query("delete from nightdesk_data.schedules where name = $1", [
    name,
  ]);
  await notifySchedules(db);
  return rowCount === 1;
}

async function notifySchedules(db: Queryable): Promise<void> {
  await db.query(`select pg_notify('${SCHEDULES_CHANNEL}', '')`);
}
