import { z } from "zod";
import type { Queryable } from "../database.ts";
import { MAY_RUN } from "./holds.ts";

const workSchema = z.tuple([z.object({ work: z.boolean() })]);

/**
 * Whether there is something to do now: a job of a batch that may run that runs or is due, or jobs to end of a batch
 * that was closed. A parked job is not, until its time comes, and neither is one that waits for others, nor one of a
 * batch that is held.
 */
export async function hasWork(db: Queryable): Promise<boolean> {
  const { rows } = await db.query(
    `select exists (select from nightdesk_data.batches where closing)
         or exists (
       select from nightdesk_data.batches b
        where ${MAY_RUN} and (
              exists (select from nightdesk_data.jobs j where j.batch_id = b.batch_id and j.state = 'running')
           or exists (select from nightdesk_data.jobs j where j.batch_id = b.batch_id
                         and j.dispatched_at is not null and j.due_at <= now())
           or exists (select from nightdesk_data.jobs j where j.batch_id = b.batch_id
                         and j.state in ('queued', 'parked') and j.dispatched_at is null and j.waits_for = 0
                         and j.due_at < 'infinity' and j.due_at <= now()))
     ) as work`,
  );
  return workSchema.parse(rows)[0].work;
}
