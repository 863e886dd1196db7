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
import { holdToken } from "./files.ts";
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
/** What a program asked for: the lines of a file as a batch. */
export type ProgramBatch = z.infer<typeof batchSchema>;

export type NewProgramBatch = Pick<
  ProgramBatch,
  "fileId" | "endpoint" | "completionWindow" | "metadata" | "requestSha256"
> & {
  readonly idempotencyKey: string | null;
  /** Whether the client says that it sends this once more. */
  readonly sent: "first" | "again";
};

/** Within which the same request makes no second batch. */
const SAME_REQUEST = "interval '10 minutes'";

/**
 * Begins a batch, or finds the one that the same request made before: by its Idempotency-Key, or by its words where the client says
 * that it sends it again.
 * @returns undefined where the token ended meanwhile
 */
export const beginProgramBatch = (
  database: Database,
  tokenId: string,
  batch: NewProgramBatch,
): Promise<{ readonly batch: ProgramBatch; readonly created: boolean } | undefined> =>
  database.transaction(async (db) => {
    if (!(await holdToken(db, tokenId))) return undefined;
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
 * Gives a batch its jobs, in the transaction that opens them.
 * @returns `revoked` where the token ended meanwhile, `too_many` with more open jobs than a token may have, `given_up` where it
 *   was held for interrupted
 */
export async function attachJobs(
  transaction: Queryable,
  token: Pick<Token, "tokenId" | "name">,
  { programBatchId, batchId, jobs, mostOpen, action }: AttachedJobs,
): Promise<"attached" | "revoked" | "too_many" | "given_up"> {
  if (!(await holdToken(transaction, token.tokenId))) return "revoked";
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

/** Jobs of a token that have not ended. */
export const countOpenJobs = (db: Queryable, tokenId: string): Promise<number> =>
  valueOf(db, z.coerce.number(), [tokenId])`
     select coalesce(sum(c.queued + c.running + c.parked), 0) as jobs
       from nightdesk_data.program_batches p
       join nightdesk_data.batches b on b.batch_id = p.batch_id and b.state = 'open'
       join nightdesk_data.batch_counts c on c.batch_id = b.batch_id
      where p.token_id = $1`;

/** Its lines were refused. */
export const failProgramBatch = (
  db: Queryable,
  programBatchId: string,
  errors: readonly LineError[],
): Promise<ProgramBatch | undefined> =>
  rowOf(db, batchSchema, [programBatchId, JSON.stringify(errors)])`
     update nightdesk_data.program_batches set failed_at = clock_timestamp(), errors = $2
      where program_batch_id = $1 and batch_id is null and failed_at is null returning ${COLUMNS}`;

/** Nothing came of it, and nobody is told of it. */
export const deleteProgramBatch = (db: Queryable, programBatchId: string): Promise<void> =>
  execute(db, [programBatchId])`
     delete from nightdesk_data.program_batches where program_batch_id = $1 and batch_id is null`;

/** Reading that takes so long is taken for interrupted: whoever read the lines is gone. */
const LONGEST_READING = "interval '30 minutes'";

/** Fails those whose lines nobody reads any more. */
export const failInterrupted = (db: Queryable): Promise<void> =>
  execute(db, [JSON.stringify([{ line: null, message: INTERRUPTED }])])`
     update nightdesk_data.program_batches set failed_at = clock_timestamp(), errors = $1
      where batch_id is null and failed_at is null and created_at < clock_timestamp() - ${LONGEST_READING}`;

const INTERRUPTED = "Reading the lines was interrupted. Create the batch again.";

/** Single answers have no file, and are no batches for a program. */
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

/** Keeps how long the results of a batch are as files, of the end that it has now. */
export const keepResultBytes = (
  db: Queryable,
  programBatchId: string,
  counted: { readonly output: number; readonly errors: number; readonly at: Date },
): Promise<void> =>
  execute(db, [programBatchId, counted.output, counted.errors, counted.at])`
     update nightdesk_data.program_batches set output_bytes = $2, error_bytes = $3, counted_at = $4
      where program_batch_id = $1`;

/**
 * Notes that a file of results was read to its end.
 * @returns whether the other one was, too, since the batch ended
 */
export const noteResultsRead = (
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

/** Batches of a token that are open: what its end cancels. */
export const selectOpenBatches = (db: Queryable, tokenId: string): Promise<readonly string[]> =>
  valuesOf(db, z.string(), [tokenId])`
     select b.batch_id from nightdesk_data.program_batches p join nightdesk_data.batches b using (batch_id)
      where p.token_id = $1 and b.state in ('loading', 'open') order by b.created_at, b.batch_id`;
