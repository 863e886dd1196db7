import { randomBytes } from "node:crypto";
import type { CommandInput } from "../../job/job.ts";
import { fillPlaceholders, plannedName } from "../../schedules/placeholders.ts";
import type { ScheduleEntry } from "../../schedules/schedule.ts";
import type { Database, Queryable } from "../connection/database.ts";
import { anyRow, execute } from "../connection/rows.ts";
import { findOrCreateBatch, openBatch } from "../jobs/batches.ts";
import { insertJobs, newJob } from "../jobs/insert-jobs.ts";
import type { LastRun } from "./schedules.ts";

export type ScheduleRun = { readonly batchId: string; readonly batch: string };

/**
 * Queues the run of a schedule for one planned time: a batch of one job. Of concurrent calls for the same schedule and time one
 * succeeds; the others wait for it.
 * @returns undefined when that time has a run already
 */
export async function queueScheduleRun(
  database: Database,
  { name, timezone, command }: Pick<ScheduleEntry, "name" | "timezone" | "command">,
  plannedAt: Date,
  cause: LastRun["cause"],
): Promise<ScheduleRun | undefined> {
  return database.transaction(async (db) => {
    const isFirst = await anyRow(db, [name, plannedAt, cause])`
       insert into nightdesk_data.schedule_runs (schedule, planned_at, cause) values ($1, $2, $3)
       on conflict do nothing`;
    if (!isFirst) return undefined;
    const made = await createBatch(db, plannedName(name, plannedAt, timezone));
    const input: CommandInput = {
      kind: "command",
      schedule: name,
      planned_at: plannedAt.toISOString(),
      command: fillPlaceholders(command, { schedule: name, plannedAt, timezone }),
    };
    await insertJobs(db, made.batchId, [newJob(name, input)]);
    await execute(db, [name, plannedAt, made.batchId])`
       update nightdesk_data.schedule_runs set batch_id = $3 where schedule = $1 and planned_at = $2`;
    await openBatch(db, made.batchId);
    return made;
  });
}

/** Creates the batch of a run; if another batch has its name, adds a random suffix. */
async function createBatch(db: Queryable, name: string): Promise<ScheduleRun> {
  // Without windows: they apply to the jobs that the command queues, and a morning report would wait until the evening.
  const { batchId, created } = await findOrCreateBatch(db, name, "schedule", { windows: [] });
  if (!created) return createBatch(db, `${name} ${randomBytes(3).toString("hex")}`);
  return { batchId, batch: name };
}
