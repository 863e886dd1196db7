import { z } from "zod";
import type { Queryable } from "../database.ts";
import { isoTime } from "./embeddings.ts";

const startedSchema = z.tuple([z.object({ started_at: z.string() })]);

/** When the job first ran, by the database's clock: the same for every attempt at it. */
export async function selectStartedAt(db: Queryable, jobId: string): Promise<string> {
  const { rows } = await db.query(
    `select ${isoTime("started_at")} as started_at from nightdesk_data.jobs where job_id = $1`,
    [jobId],
  );
  return startedSchema.parse(rows)[0].started_at;
}

const waitingSchema = z.tuple([z.object({ waiting: z.boolean() })]);

/** Whether an embed job of the batch, for chunks, has not begun yet. */
export async function areEmbedJobsWaiting(db: Queryable, batchId: string): Promise<boolean> {
  const { rows } = await db.query(
    `select exists (select from nightdesk_data.jobs
                     where batch_id = $1 and kind = 'embed' and input ? 'chunks'
                       and state in ('queued', 'parked')) as waiting`,
    [batchId],
  );
  return waitingSchema.parse(rows)[0].waiting;
}

const progressSchema = z.tuple([
  z.object({ jobs: z.int(), ended: z.int(), due: z.coerce.number(), done: z.coerce.number() }),
]);

/** Embed jobs of a batch, and the chunks that they were given and have embedded. */
export type EmbedProgress = z.infer<typeof progressSchema>[0];

/** How far the embed jobs of a small batch are, by what each was given and says of itself. */
export async function selectEmbedProgress(db: Queryable, batchId: string): Promise<EmbedProgress> {
  const { rows } = await db.query(
    `select count(*)::integer as jobs, count(finished_at)::integer as ended,
            coalesce(sum(given), 0) as due,
            coalesce(sum(case when finished_at is null then coalesce(said, 0) else given end), 0) as done
       from (select finished_at, (progress->>'done')::integer as said,
                    coalesce((input->'chunks'->'range'->>'due')::integer, (progress->>'total')::integer) as given
               from nightdesk_data.jobs where batch_id = $1 and kind = 'embed') jobs`,
    [batchId],
  );
  return progressSchema.parse(rows)[0];
}
