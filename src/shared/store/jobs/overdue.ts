import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { rowsOf } from "../connection/rows.ts";

const overdueSchema = z.object({
  batch: z.string(),
  jobs: z.coerce.number(),
  hours: z.coerce.number(),
});

/** The number of overdue jobs of a batch, and the hours of the oldest. */
export type OverdueJobs = z.infer<typeof overdueSchema>;

/** Batches with jobs whose lease expired more than a minute ago, longest first. A living worker takes over after 15 s. */
export const selectStuckJobs = (db: Queryable): Promise<readonly OverdueJobs[]> =>
  rowsOf(db, overdueSchema)`
     select b.name as batch, count(*) as jobs,
            extract(epoch from clock_timestamp() - min(j.lease_until)) / 3600 as hours
       from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id)
      where j.state = 'running' and j.lease_until < clock_timestamp() - interval '1 minute'
      group by 1 order by hours desc, batch limit 20`;

/** Batches with jobs that have waited for an approval for more than `hours`, longest first. */
export const selectLongWaiting = (db: Queryable, hours: number): Promise<readonly OverdueJobs[]> =>
  rowsOf(db, overdueSchema, [hours])`
     select b.name as batch, count(*) as jobs,
            extract(epoch from clock_timestamp() - min(a.requested_at)) / 3600 as hours
       from nightdesk_data.approvals a join nightdesk_data.jobs j using (job_id)
       join nightdesk_data.batches b using (batch_id)
      where a.state = 'waiting' and a.requested_at < clock_timestamp() - make_interval(hours => $1)
      group by 1 order by hours desc, batch limit 20`;
