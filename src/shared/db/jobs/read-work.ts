import { z } from "zod";
import type { Queryable } from "../database.ts";

const workSchema = z.tuple([z.object({ work: z.boolean() })]);

/** Whether an open batch that is not held has a job that runs or is due. A parked job is not, until its time comes. */
export async function hasWork(db: Queryable): Promise<boolean> {
  const { rows } = await db.query(
    `select exists (
       select from nightdesk_data.batches b join nightdesk_data.jobs j using (batch_id)
        where b.state = 'open' and b.hold_reason is null
          and (j.state = 'running' or j.state in ('queued', 'parked') and j.due_at <= now())
     ) as work`,
  );
  return workSchema.parse(rows)[0].work;
}
