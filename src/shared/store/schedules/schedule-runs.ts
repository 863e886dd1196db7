import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import type { CommandInput } from "../../job.ts";
import { fillPlaceholders, plannedName } from "../../schedules/placeholders.ts";
import type { ScheduleEntry } from "../../schedules/schedule.ts";
import type { Database, Queryable } from "../connection/database.ts";
import { findOrCreateBatch, openBatch } from "../jobs/batches.ts";
import { isDue } from "../jobs/due.ts";
import { insertJobs } from "../jobs/insert-jobs.ts";
import { SCHEDULES_CHANNEL } from "./schedules.ts";
import type { LastRun } from "./schedules.ts";

export type MadeRun = { readonly batchId: string; readonly batch: string };

/**
 * Queues what a schedule runs at one planned time: a batch of one job. Of any number of calls for the same schedule and
 * time one does; the others wait for it and find it done.
 * @returns undefined when there is a run for that time already
 */
export async function makeRun(
  database: Database,
  { name, timezone, command }: Pick<ScheduleEntry, "name" | "timezone" | "command">,
  plannedAt: Date,
  cause: LastRun["cause"],
): Promise<MadeRun | undefined> {
  return database.transaction(async (db) => {
    const { rowCount } = await db.query(
      `insert into nightdesk_data.schedule_runs (schedule, planned_at, cause) values ($1, $2, $3)
       on conflict do nothing`,
      [name, plannedAt, cause],
    );
    if (rowCount !== 1) return undefined;
    const made = await createBatch(db, plannedName(name, plannedAt, timezone));
    const input: CommandInput = {
      kind: "command",
      schedule: name,
      planned_at: plannedAt.toISOString(),
      command: fillPlaceholders(command, { schedule: name, plannedAt, timezone }),
    };
    const inputSha256 = createHash("sha256").update(JSON.stringify(input)).digest("hex");
    await insertJobs(db, made.batchId, [{ customId: name, input, inputSha256, priority: 0 }]);
    await db.query(
      "update nightdesk_data.schedule_runs set batch_id = $3 where schedule = $1 and planned_at = $2",
      [name, plannedAt, made.batchId],
    );
    await openBatch(db, made.batchId);
    await db.query(`select pg_notify('${SCHEDULES_CHANNEL}', '')`);
    return made;
  });
}

/** A batch of somebody else's that has the name already is left alone. */
async function createBatch(db: Queryable, name: string): Promise<MadeRun> {
  // No window holds it: its command queues what windows are for, and a report of the morning would wait for the evening.
  const { batchId, created } = await findOrCreateBatch(db, name, "schedule", { windows: [] });
  if (!created) return createBatch(db, `${name} ${randomBytes(3).toString("hex")}`);
  return { batchId, batch: name };
}

const dueSchema = z.array(z.object({ job_id: z.string(), dispatch: z.int() }));

/** Commands of schedules that are due, as deliveries. They never go through the queue. */
export async function selectDueCommands(
  db: Queryable,
  limit: number,
): Promise<readonly { readonly jobId: string; readonly dispatch: number }[]> {
  const { rows } = await db.query(
    `select j.job_id, j.dispatch
       from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id)
      where j.kind = 'command' and j.state in ('queued', 'parked') and ${isDue("j.due_at")}
        and b.state = 'open' and b.hold_reason is null
      order by j.due_at, j.seq limit $1`,
    [limit],
  );
  return dueSchema.parse(rows).map(({ job_id, dispatch }) => ({ jobId: job_id, dispatch }));
}
