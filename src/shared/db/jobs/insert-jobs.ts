import { z } from "zod";
import type { JobInput } from "../../job.ts";
import type { Queryable } from "../database.ts";

export type NewJob = {
  readonly customId: string;
  readonly input: JobInput;
  /** SHA-256 of the canonical JSON of the input. */
  readonly inputSha256: string;
  readonly priority: number;
};

const insertedSchema = z.array(z.object({ custom_id: z.string(), job_id: z.string() }));

/**
 * Inserts jobs into a batch, in the order given; a custom_id that is there already is left as it is.
 * @returns job ids of the new rows by custom_id
 */
export async function insertJobs(
  db: Queryable,
  batchId: string,
  jobs: readonly NewJob[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.query(
    `insert into nightdesk_data.jobs (batch_id, custom_id, kind, input, input_sha256, priority)
     select $1, custom_id, input->>'kind', input, input_sha256, priority
       from unnest($2::text[], $3::jsonb[], $4::text[], $5::smallint[]) with ordinality
            as new (custom_id, input, input_sha256, priority, place)
      order by place
     on conflict (batch_id, custom_id) do nothing
     returning custom_id, job_id`,
    [
      batchId,
      jobs.map(({ customId }) => customId),
      jobs.map(({ input }) => JSON.stringify(input)),
      jobs.map(({ inputSha256 }) => inputSha256),
      jobs.map(({ priority }) => priority),
    ],
  );
  return new Map(insertedSchema.parse(rows).map((row) => [row.custom_id, row.job_id]));
}

const existingSchema = z.array(z.object({ custom_id: z.string(), input_sha256: z.string() }));

/** Input hashes of those custom_ids that the batch holds already. */
export async function selectInputHashes(
  db: Queryable,
  batchId: string,
  customIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.query(
    `select custom_id, input_sha256 from nightdesk_data.jobs
      where batch_id = $1 and custom_id = any($2::text[])`,
    [batchId, customIds],
  );
  return new Map(existingSchema.parse(rows).map((row) => [row.custom_id, row.input_sha256]));
}
