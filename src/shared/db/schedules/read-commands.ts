import { z } from "zod";
import type { Queryable } from "../database.ts";
import { isDue } from "../jobs/due.ts";

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
