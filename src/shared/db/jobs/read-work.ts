import { z } from "zod";
import type { Queryable } from "../database.ts";
import { isDue } from "./due.ts";
import { MAY_RUN } from "./holds.ts";

const workSchema = z.tuple([z.object({ work: z.boolean() })]);

/**
 * Whether there is something that a worker would do now, and nobody else:
 *
 * - a job of a batch that may run runs or is due. A parked job is not, until its time comes, and neither is one that
 *   waits for others, nor one of a batch that is held;
 * - jobs of a batch that was closed, or whose deadline has passed, are to be ended;
 * - a worker died with a job, or with what it had reserved of a budget that holds a batch;
 * - a host that holds a batch is to be asked whether it is back, or is being asked.
 */
export async function hasWork(db: Queryable): Promise<boolean> {
  const { rows } = await db.query(
    `select exists (select from nightdesk_data.batches where closing)
         or exists (select from nightdesk_data.jobs where state = 'running' and lease_until < clock_timestamp())
         or exists (
       select from nightdesk_data.batches b
        where b.state = 'open' and b.deadline_at <= clock_timestamp()
          and exists (select from nightdesk_data.jobs j where j.batch_id = b.batch_id
                         and j.state in ('queued', 'parked')))
         or exists (select from nightdesk_data.batches where state = 'open' and hold_reason = 'host')
        and exists (select from nightdesk_data.hosts
                     where state = 'open' and (next_probe_at <= clock_timestamp() or probing_until > clock_timestamp()))
         or exists (select from nightdesk_data.batches where state = 'open' and hold_reason = 'budget')
        and exists (select from nightdesk_data.reservations where not nightdesk_data.has_its_job(run_id))
         or exists (
       select from nightdesk_data.batches b
        where ${MAY_RUN} and (
              exists (select from nightdesk_data.jobs j where j.batch_id = b.batch_id and j.state = 'running')
           or exists (select from nightdesk_data.jobs j where j.batch_id = b.batch_id
                         and j.dispatched_at is not null and ${isDue("j.due_at")})
           or exists (select from nightdesk_data.jobs j where j.batch_id = b.batch_id
                         and j.state in ('queued', 'parked') and j.dispatched_at is null and j.waits_for = 0
                         and ${isDue("j.due_at")}))
     ) as work`,
  );
  return workSchema.parse(rows)[0].work;
}
