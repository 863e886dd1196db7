import { z } from "zod";
import type { Database, Queryable } from "../connection/database.ts";
import {
  anyRow,
  camelRow,
  execute,
  oneRowOf,
  rowOf,
  rowsOf,
  valueOf,
  valuesOf,
} from "../connection/rows.ts";
import { recordAction } from "../operator/actions.ts";
import { lockToken } from "./files.ts";
import type { ListPage } from "./files.ts";
import type { Token } from "./tokens.ts";

export const ENDPOINTS = ["/v1/chat/completions", "/v1/embeddings", "/v1/nightdesk/jobs"] as const;

const lineErrorSchema = z.object({ line: z.number().nullable(), message: z.string() });
export type LineError = z.infer<typeof lineErrorSchema>;

const COLUMNS = `program_batch_id, seq::text, batch_id, file_id, endpoint, completion_window, metadata, created_at,
  failed_at, errors, output_bytes, error_bytes, counted_at, request_sha256`;

const batchSchema = camelRow({
  program_batch_id: z.string(),
  seq: z.string(),
  batch_id: z.string().nullable(),
  file_id: z.string().nullable(),
  endpoint: z.enum(ENDPOINTS),
  completion_window: z.string(),
  metadata: z.record(z.string(), z.string()),
  created_at: z.date(),
  failed_at: z.date().nullable(),
  errors: z.array(lineErrorSchema).nullable(),
  output_bytes: z.coerce.number().nullable(),
  error_bytes: z.coerce.number().nullable(),
  counted_at: z.date().nullable(),
  request_sha256: z.string(),
});
/** A batch that a program requested, from the lines of a file. */
export type ProgramBatch = z.infer<typeof batchSchema>;

export type NewProgramBatch = Pick<
  ProgramBatch,
  "fileId" | "endpoint" | "completionWindow" | "metadata" | "requestSha256"
> & {
  readonly idempotencyKey: string | null;
  /** Whether the client marks the request as a retry. */
  readonly sent: "first" | "again";
};

/** Within this time the same request creates no second batch. */
const SAME_REQUEST = "interval '10 minutes'";

/**
 * Creates a batch, or finds the one that the same request created before: by its Idempotency-Key, or by equal content when the
 * client marks it as a retry.
 * @returns undefined when the token has ended meanwhile
 */
export const beginProgramBatch = (
  database: Database,
  tokenId: string,
  batch: NewProgramBatch,
): Promise<{ readonly batch: ProgramBatch; readonly created: boolean } | undefined> =>
  database.transaction(async (db) => {
    if (!(await lockToken(db, tokenId))) return undefined;
    const found = await findSame(db, tokenId, batch);
    if (found !== undefined) return { batch: found, created: false };
    const created = await oneRowOf(db, batchSchema, [
      tokenId,
      batch.fileId,
      batch.endpoint,
      batch.completionWindow,
      JSON.stringify(batch.metadata),
      batch.requestSha256,
      batch.idempotencyKey,
    ])`
     insert into nightdesk_data.program_batches
       (token_id, file_id, endpoint, completion_window, metadata, request_sha256, idempotency_key)
     values ($1, $2, $3, $4, $5, $6, $7) returning ${COLUMNS}`;
    return { batch: created, created: true };
  });

const findSame = (
  db: Queryable,
  tokenId: string,
  { idempotencyKey, sent, requestSha256 }: NewProgramBatch,
): Promise<ProgramBatch | undefined> =>
  rowOf(db, batchSchema, [tokenId, idempotencyKey, sent === "again", requestSha256])`
     select ${COLUMNS} from nightdesk_data.program_batches
      where token_id = $1 and ($2::text is not null and idempotency_key = $2 or $2::text is null and $3 and request_sha256 = $4)
        and created_at > clock_timestamp() - ${SAME_REQUEST}
      order by program_batches.seq desc limit 1`;

/**
 * Links a program's batch to its jobs, in the transaction that opens them.
 * @returns `revoked` when the token has ended meanwhile, `too_many` when it would have more open jobs than allowed, `given_up`
 * when the batch was failed as interrupted
 */
export async function attachJobs(
  transaction: Queryable,
  token: Pick<Token, "tokenId" | "name">,
  { programBatchId, batchId, jobs, mostOpen, action }: AttachedJobs,
): Promise<"attached" | "revoked" | "too_many" | "given_up"> {
  if (!(await lockToken(transaction, token.tokenId))) return "revoked";
  if ((await countOpenJobs(transaction, token.tokenId)) + jobs > mostOpen) return "too_many";
  const isAttached = await anyRow(transaction, [programBatchId, batchId])`
     update nightdesk_data.program_batches set batch_id = $2
      where program_batch_id = $1 and batch_id is null and failed_at is null`;
  if (!isAttached) return "given_up";
  await recordAction(
    transaction,
    { actor: `program ${token.name}`, action, batchId },
    `${jobs} jobs.`,
  );
  return "attached";
}

type AttachedJobs = {
  readonly programBatchId: string;
  readonly batchId: string;
  readonly jobs: number;
  readonly mostOpen: number;
  readonly action: "queue" | "ask";
};

/** The number of unfinished jobs of a token. */
export const countOpenJobs = (db: Queryable, tokenId: string): Promise<number> =>
  valueOf(db, z.coerce.number(), [tokenId])`
     select coalesce(sum(c.queued + c.running + c.parked), 0) as jobs
       from nightdesk_data.program_batches p
       join nightdesk_data.batches b on b.batch_id = p.batch_id and b.state = 'open'
       join nightdesk_data.batch_counts c on c.batch_id = b.batch_id
      where p.token_id = $1`;

/** Fails a batch whose lines were refused. */
export const failProgramBatch = (
  db: Queryable,
  programBatchId: string,
  errors: readonly LineError[],
): Promise<ProgramBatch | undefined> =>
  rowOf(db, batchSchema, [programBatchId, JSON.stringify(errors)])`
     update nightdesk_data.program_batches set failed_at = clock_timestamp(), errors = $2
      where program_batch_id = $1 and batch_id is null and failed_at is null returning ${COLUMNS}`;

/** Deletes a batch that got no jobs, without a trace. */
export const deleteProgramBatch = (db: Queryable, programBatchId: string): Promise<void> =>
  execute(db, [programBatchId])`
     delete from nightdesk_data.program_batches where program_batch_id = $1 and batch_id is null`;

/** A longer reading counts as interrupted: the process that read the lines is gone. */
const LONGEST_READING = "interval '30 minutes'";

/** Fails batches whose reading was interrupted. */
export const failInterrupted = (db: Queryable): Promise<void> =>
  execute(db, [JSON.stringify([{ line: null, message: INTERRUPTED }])])`
     update nightdesk_data.program_batches set failed_at = clock_timestamp(), errors = $1
      where batch_id is null and failed_at is null and created_at < clock_timestamp() - ${LONGEST_READING}`;

const INTERRUPTED = "Reading the lines was interrupted. Create the batch again.";

/** Finds a batch with a file. Without one it is a single answer, which programs do not see as a batch. */
export const findProgramBatch = (
  db: Queryable,
  tokenId: string,
  programBatchId: string,
): Promise<ProgramBatch | undefined> =>
  rowOf(db, batchSchema, [tokenId, programBatchId])`
     select ${COLUMNS} from nightdesk_data.program_batches
      where token_id = $1 and program_batch_id = $2 and file_id is not null`;

export const listProgramBatches = (
  db: Queryable,
  tokenId: string,
  { after, limit }: Pick<ListPage, "after" | "limit">,
): Promise<readonly ProgramBatch[]> =>
  rowsOf(db, batchSchema, [tokenId, after, limit])`
     select ${COLUMNS} from nightdesk_data.program_batches
      where token_id = $1 and file_id is not null and ($2::bigint is null or seq < $2) order by program_batches.seq desc limit $3`;

/** Stores the sizes of a batch's result files, counted for its current end. */
export const storeResultBytes = (
  db: Queryable,
  programBatchId: string,
  counted: { readonly output: number; readonly errors: number; readonly at: Date },
): Promise<void> =>
  execute(db, [programBatchId, counted.output, counted.errors, counted.at])`
     update nightdesk_data.program_batches set output_bytes = $2, error_bytes = $3, counted_at = $4
      where program_batch_id = $1`;

/**
 * Records that a result file was read completely.
 * @returns whether both files were read since the batch ended
 */
export const recordResultsRead = (
  db: Queryable,
  programBatchId: string,
  { file, finishedAt }: { readonly file: "output" | "errors"; readonly finishedAt: Date },
): Promise<boolean> =>
  valueOf(db, z.boolean(), [programBatchId, file, finishedAt])`
     update nightdesk_data.program_batches
        set output_read_at = case $2::text when 'output' then now() else output_read_at end,
            error_read_at = case $2::text when 'errors' then now() else error_read_at end
      where program_batch_id = $1
      returning coalesce(output_read_at >= $3::timestamptz and error_read_at >= $3, false)`;

/** Open batches of a token, which are cancelled when it ends. */
export const selectOpenBatches = (db: Queryable, tokenId: string): Promise<readonly string[]> =>
  valuesOf(db, z.string(), [tokenId])`
     select b.batch_id from nightdesk_data.program_batches p join nightdesk_data.batches b using (batch_id)
      where p.token_id = $1 and b.state in ('loading', 'open') order by b.created_at, b.batch_id`;
