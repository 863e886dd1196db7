import { z } from "zod";
import type { Queryable } from "../database.ts";

/** Payload-free: whoever hears it looks at the rows of schedules. */
export const SCHEDULES_CHANNEL = "nightdesk_schedules";

const scheduleSchema = z
  .object({
    name: z.string(),
    origin: z.enum(["file", "set"]),
    cron: z.string(),
    timezone: z.string(),
    command: z.array(z.string()),
    catch_up: z.string(),
    enabled: z.boolean(),
    since: z.date(),
  })
  .transform(({ catch_up: catchUp, ...row }) => ({ ...row, catchUp }));

/** A schedule as it is in force: `enabled` is what was written, or what somebody switched it to since. */
export type Schedule = z.infer<typeof scheduleSchema>;

const COLUMNS = `name, origin, cron, timezone, command, catch_up, coalesce(switched, enabled) as enabled, since`;

/** All schedules, by name. */
export async function selectSchedules(db: Queryable): Promise<readonly Schedule[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from nightdesk_data.schedules order by name collate "C"`,
  );
  return z.array(scheduleSchema).parse(rows);
}

export async function findSchedule(db: Queryable, name: string): Promise<Schedule | undefined> {
  const { rows } = await db.query(
    `select ${COLUMNS} from nightdesk_data.schedules where name = $1`,
    [name],
  );
  return z.array(scheduleSchema).parse(rows)[0];
}

const lastRunSchema = z.array(
  z
    .object({
      schedule: z.string(),
      planned_at: z.date(),
      cause: z.enum(["tick", "missed", "by_hand"]),
      batch: z.string().nullable(),
      state: z.string().nullable(),
      error_code: z.string().nullable(),
    })
    .transform((row) => ({
      schedule: row.schedule,
      plannedAt: row.planned_at,
      cause: row.cause,
      batch: row.batch,
      state: row.state,
      code: row.error_code,
    })),
);
export type LastRun = z.infer<typeof lastRunSchema>[number];

/**
 * The newest run of each schedule, with the state of its job; batch and state are null when the batch was deleted. The
 * state is `partial` where the command ended with exit code 3: some of what it was to do was refused or failed.
 */
export async function selectLastRuns(db: Queryable): Promise<ReadonlyMap<string, LastRun>> {
  const { rows } = await db.query(
    `select distinct on (r.schedule) r.schedule, r.planned_at, r.cause, b.name as batch, j.error_code,
            case when j.state = 'succeeded' and u.summary ->> 'exit_code' = '3' then 'partial' else j.state end as state
       from nightdesk_data.schedule_runs r
       left join nightdesk_data.batches b using (batch_id)
       left join nightdesk_data.jobs j using (batch_id)
       left join nightdesk_data.runs u on u.run_id = j.run_id
      order by r.schedule, r.made_at desc`,
  );
  return new Map(lastRunSchema.parse(rows).map((run) => [run.schedule, run]));
}

const nowSchema = z.tuple([z.object({ now: z.date() })]);

/** The database's clock. */
export async function selectNow(db: Queryable): Promise<Date> {
  const { rows } = await db.query("select clock_timestamp() as now");
  return nowSchema.parse(rows)[0].now;
}
