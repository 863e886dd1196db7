import { z } from "zod";
import { Failure } from "../../failure.ts";
import type { JobInput } from "../../job/job.ts";
import { hashJson } from "../../schema/json-value.ts";
import type { Queryable } from "../connection/database.ts";
import { rowsOf } from "../connection/rows.ts";

export type NewJob = {
  readonly customId: string;
  readonly input: JobInput;
  /** SHA-256 of the canonical JSON of the input. */
  readonly inputSha256: string;
  readonly priority: number;
  /** The model that will answer, if known: jobs of one model run one after another. */
  readonly affinity?: string;
  /** Size of its file in bytes, if known. */
  readonly size?: number;
  /** The job of an earlier batch that this one repeats. */
  readonly rerunOf?: string;
};

/** A job with an input alone. */
export const newJob = (customId: string, input: JobInput, priority = 0): NewJob => ({
  customId,
  input,
  inputSha256: hashJson(input),
  priority,
});

const insertedSchema = z.object({
  custom_id: z.string().nullable(),
  job_id: z.string().nullable(),
});

/**
 * Inserts jobs into a batch, in the given order, and ignores a custom_id that exists already. Locks the batch against
 * `cancelBatch` until the caller's transaction ends, so that no job is left behind in a closed batch.
 * @returns job ids of the new rows by custom_id
 * @throws Failure CANCELLED when the batch accepts no more jobs
 */
export async function insertJobs(
  db: Queryable,
  batchId: string,
  jobs: readonly NewJob[],
): Promise<ReadonlyMap<string, string>> {
  const added = await rowsOf(db, insertedSchema, [
    batchId,
    jobs.map(({ customId }) => customId),
    jobs.map(({ input }) => JSON.stringify(input)),
    jobs.map(({ inputSha256 }) => inputSha256),
    jobs.map(({ priority }) => priority),
    jobs.map(({ affinity = "" }) => affinity),
    jobs.map(({ size = 0 }) => size),
    jobs.map(({ rerunOf = null }) => rerunOf),
  ])`
     with target as materialized (
       select batch_id from nightdesk_data.batches
        where batch_id = $1 and state in ('loading', 'open', 'completed') for share),
     added as (
       insert into nightdesk_data.jobs (batch_id, custom_id, kind, input, input_sha256, priority, affinity, size, rerun_of)
       select batch_id, custom_id, input->>'kind', input, input_sha256, priority, affinity, size, rerun_of
         from target, unnest($2::text[], $3::jsonb[], $4::text[], $5::smallint[], $6::text[], $7::bigint[], $8::uuid[])
              with ordinality as new (custom_id, input, input_sha256, priority, affinity, size, rerun_of, place)
        order by place
       on conflict (batch_id, custom_id) do nothing
       returning custom_id, job_id)
     select custom_id, job_id from target left join added on true`;
  if (added.length === 0) {
    throw new Failure("CANCELLED", "The batch was cancelled or deleted, and takes no more jobs.");
  }
  return new Map(
    added.flatMap(({ custom_id, job_id }) =>
      custom_id === null || job_id === null ? [] : [[custom_id, job_id]],
    ),
  );
}

const existingSchema = z.object({ custom_id: z.string(), input_sha256: z.string() });

/** Input hashes of the custom_ids that the batch has already. */
export async function selectInputHashes(
  db: Queryable,
  batchId: string,
  customIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await rowsOf(db, existingSchema, [batchId, customIds])`
     select custom_id, input_sha256 from nightdesk_data.jobs
      where batch_id = $1 and custom_id = any($2::text[])`;
  return new Map(rows.map((row) => [row.custom_id, row.input_sha256]));
}
