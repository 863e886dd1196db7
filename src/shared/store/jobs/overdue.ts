import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { rowsOf } from "../connection/rows.ts";

const overdueSchema = z.object({
  batch: z.string(),
  jobs: z.coerce.number(),
  hours: z.coerce.number(),
});

/** Jobs of a batch, and for how many hours the oldest of them. */
export type OverdueJobs = z.infer<typeof overdueSchema>;

/**
 * Batches with jobs whose worker has not renewed their lease for a minute, where a living worker would have taken them
 * over after 15 s, longest first.
 */
export const selectStuckJobs = (db: Queryable): Promise<readonly OverdueJobs[]> =>
  rowsOf(db, overdueSchema)`
     select b.name as batch, count(*) as jobs,
            extract(epoch from clock_timestamp() - min(j.lease_until)) / 3600 as hours
       from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id)
      where j.state = 'running' and j.lease_until < clock_timestamp() - interval '1 minute'
      group by 1 order by hours desc, batch limit 20`;

/** Batches with jobs that have waited for a person for longer than so many hours, longest first. */
export const selectLongWaiting = (db: Queryable, hours: number): Promise<readonly OverdueJobs[]> =>
  rowsOf(db, overdueSchema, [hours])`
     select b.name as batch, count(*) as jobs,
            extract(epoch from clock_timestamp() - min(a.requested_at)) / 3600 as hours
       from nightdesk_data.approvals a join nightdesk_data.jobs j using (job_id)
       join nightdesk_data.batches b using (batch_id)
      where a.state = 'waiting' and a.requested_at < clock_timestamp() - make_interval(hours => $1)
      group by 1 order by hours desc, batch limit 20`;
