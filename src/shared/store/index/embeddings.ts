import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { camelRow, countRows, oneRowOf, rowsOf, valueOf } from "../connection/rows.ts";
import { selectVectorSchema, storedVector, vectorText } from "./vector-index.ts";
import type { VectorPrecision } from "./vector-index.ts";

/** The model, and build of it, whose vectors are meant. */
export type VectorSpace = { readonly model: string; readonly signature: string };

export type StoredSpace = VectorSpace & { readonly precision: VectorPrecision };

/** Chunks whose id is greater than `after` and at most `upto`. */
export type ChunkRange = { readonly after: number; readonly upto: number };

/** The chunks that an embed run covers. */
export type EmbedScope = {
  /** Null for all chunks. */
  readonly range: ChunkRange | null;
  /** A time of the database's clock, as text: older vectors are made again. Null to keep current ones. */
  readonly redoBefore: string | null;
};

/** Counts of chunks with a vector of this signature, with only one of another build of the model, and with none of the model. */
type EmbeddingState = {
  readonly chunks: number;
  readonly current: number;
  readonly outdated: number;
  readonly missing: number;
  /** Missing, outdated, or older than `redoBefore`. */
  readonly due: number;
};

const stateSchema = z.object({
  chunks: z.int(),
  current: z.int(),
  outdated: z.int(),
  settled: z.int(),
});

/** Counts the chunks in the scope. For a range, reads only the range. */
export async function measureEmbeddings(
  db: Queryable,
  { model, signature }: VectorSpace,
  { range, redoBefore }: EmbedScope = WHOLE_INDEX,
): Promise<EmbeddingState> {
  const { settled, ...state } = await oneRowOf(
    db,
    stateSchema,
    [signature, redoBefore, model].concat(range === null ? [] : bounds(range)),
  )`${range === null ? MEASURE_ALL : MEASURE_RANGE}`;
  return {
    ...state,
    missing: state.chunks - state.current - state.outdated,
    due: state.chunks - settled,
  };
}

const WHOLE_INDEX: EmbedScope = { range: null, redoBefore: null };

const bounds = ({ after, upto }: ChunkRange): string[] => [String(after), String(upto)];

/** SQL condition: a vector of signature $1 that need not be made again, by `redoBefore` in $2. */
const STANDS = "e.signature = $1 and e.embedded_at >= coalesce($2::timestamptz, '-infinity')";

const COUNTS = `
       count(*) filter (where e.signature = $1)::integer as current,
       count(*) filter (where ${STANDS})::integer as settled`;

/** SQL condition: vector `old` is of another build of the model, and its chunk has no vector of this build. */
const IS_OUTDATED = `old.model = $3 and old.signature <> $1 and not exists (
  select from nightdesk_data.embeddings own where own.chunk_id = old.chunk_id and own.signature = $1)`;

const MEASURE_ALL = `
  select (select coalesce(sum(chunks), 0) from nightdesk_data.chunk_counts)::integer as chunks, ${COUNTS},
         (select count(distinct old.chunk_id) from nightdesk_data.embeddings old where ${IS_OUTDATED})::integer as outdated
    from nightdesk_data.embeddings e where e.signature = $1`;

const MEASURE_RANGE = `
  select count(*)::integer as chunks, ${COUNTS},
         (select count(distinct old.chunk_id) from nightdesk_data.embeddings old
           where old.chunk_id > $4::bigint and old.chunk_id <= $5::bigint and ${IS_OUTDATED})::integer as outdated
    from nightdesk_data.chunks c
    left join nightdesk_data.embeddings e on e.chunk_id = c.chunk_id and e.signature = $1
   where c.chunk_id > $4::bigint and c.chunk_id <= $5::bigint`;

const IS_DUE = `not exists (
  select from nightdesk_data.embeddings e where e.chunk_id = c.chunk_id and ${STANDS})`;

type DueRange = ChunkRange & {
  /** The number of due chunks in it. */
  readonly due: number;
};

const rangesSchema = z.object({ first: z.coerce.number(), last: z.coerce.number(), due: z.int() });

/** Splits the due chunks into ranges of `size` due chunks, by id; the last range may have fewer. */
export async function selectDueRanges(
  db: Queryable,
  { signature }: VectorSpace,
  redoBefore: string | null,
  size: number,
): Promise<DueRange[]> {
  const rows = await rowsOf(db, rangesSchema, [signature, redoBefore, size])`
     select min(chunk_id) as first, max(chunk_id) as last, count(*)::integer as due
       from (select c.chunk_id, (row_number() over (order by c.chunk_id) - 1) / $3::integer as part
               from nightdesk_data.chunks c where ${IS_DUE}) parts
      group by part order by part`;
  return rows.map(({ first, last, due }) => ({ after: first - 1, upto: last, due }));
}

const chunkSchema = camelRow({
  chunk_id: z.string(),
  heading_path: z.string().nullable(),
  title: z.string().nullable(),
  text: z.string(),
});
export type ChunkToEmbed = z.infer<typeof chunkSchema>;

/** Start and most chunks of a batch. */
type EmbedBatch = EmbedScope & { readonly afterChunkId: string; readonly limit: number };

const LAST_CHUNK_ID = "9223372036854775807";

/** The next due chunks of the scope, by id. */
export const loadChunksToEmbed = (
  db: Queryable,
  { signature }: VectorSpace,
  { range, redoBefore, afterChunkId, limit }: EmbedBatch,
): Promise<ChunkToEmbed[]> =>
  rowsOf(db, chunkSchema, [
    signature,
    redoBefore,
    afterChunkId,
    String(range?.upto ?? LAST_CHUNK_ID),
    limit,
  ])`
     select c.chunk_id::text, c.heading_path, d.title, c.text
       from nightdesk_data.chunks c join nightdesk_data.documents d using (doc_id)
      where c.chunk_id > $3::bigint and c.chunk_id <= $4::bigint and ${IS_DUE}
      order by c.chunk_id
      limit $5`;

/**
 * Stores vectors and replaces those of the same signature. Skips chunks that were deleted meanwhile.
 * @returns how many were stored
 */
export async function storeEmbeddings(
  db: Queryable,
  { model, signature, precision }: StoredSpace,
  vectors: readonly { readonly chunkId: string; readonly vector: Float32Array }[],
): Promise<number> {
  const schema = await selectVectorSchema(db);
  const { column, type } = storedVector(precision, schema);
  return countRows(db, [
    model,
    signature,
    vectors.map(({ chunkId }) => chunkId),
    vectors.map(({ vector }) => vectorText(vector)),
  ])`
     insert into nightdesk_data.embeddings (chunk_id, model, signature, dims, ${column})
     select chunk_id, $1, $2, ${schema}.vector_dims(vector::${type}), vector::${type}
       from unnest($3::bigint[], $4::text[]) as u (chunk_id, vector)
       join (select chunk_id from nightdesk_data.chunks where chunk_id = any ($3::bigint[]) for key share) there
            using (chunk_id)
     on conflict (chunk_id, signature) do update set ${column} = excluded.${column}, embedded_at = now()`;
}

/** A signature of half precision, and the signature of the same vectors in full precision. */
type RoundedSpace = VectorSpace & { readonly roundedFrom: string };

const roundedSchema = z.object({ last: z.string().nullable(), rounded: z.int() });

/**
 * Stores half-precision vectors by rounding stored full ones, so nothing is embedded: for the next chunks of the scope that have
 * a full vector and no half one. Skips chunks that were deleted meanwhile.
 * @returns the last chunk of this step, null when none is left, and how many vectors were stored
 */
export async function roundEmbeddings(
  db: Queryable,
  { model, signature, roundedFrom }: RoundedSpace,
  { range, afterChunkId, limit }: Omit<EmbedBatch, "redoBefore">,
): Promise<z.infer<typeof roundedSchema>> {
  const half = storedVector("half", await selectVectorSchema(db));
  return oneRowOf(db, roundedSchema, [
    model,
    signature,
    roundedFrom,
    afterChunkId,
    String(range?.upto ?? LAST_CHUNK_ID),
    limit,
  ])`
     with whole as materialized (
       select c.chunk_id, w.dims, w.embedding
         from nightdesk_data.embeddings w join nightdesk_data.chunks c using (chunk_id)
        where w.signature = $3 and c.chunk_id > $4::bigint and c.chunk_id <= $5::bigint
          and not exists (select from nightdesk_data.embeddings own
                           where own.chunk_id = c.chunk_id and own.signature = $2)
        order by c.chunk_id limit $6 for key share of c),
     stored as (
       insert into nightdesk_data.embeddings (chunk_id, model, signature, dims, ${half.column})
       select chunk_id, $1, $2, dims, embedding::${half.type} from whole
       on conflict (chunk_id, signature) do nothing returning 1)
     select (select max(chunk_id)::text from whole) as last, (select count(*) from stored)::integer as rounded`;
}

/** SQL: a time as ISO 8601 text, exact to the microsecond. */
const isoTime = (time: string): string =>
  `to_char(${time} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** The current time of the database's clock, for `redoBefore`. */
export const selectNow = (db: Queryable): Promise<string> =>
  valueOf(db, z.string())`select ${isoTime("clock_timestamp()")} as now`;

/** The start of the job's first run, by the database's clock: the same for every attempt. */
export const selectStartedAt = (db: Queryable, jobId: string): Promise<string> =>
  valueOf(db, z.string(), [jobId])`
     select ${isoTime("started_at")} as started_at from nightdesk_data.jobs where job_id = $1`;

/** Whether the batch has an embed job for chunks that has not begun yet. */
export const areEmbedJobsWaiting = (db: Queryable, batchId: string): Promise<boolean> =>
  valueOf(db, z.boolean(), [batchId])`
     select exists (select from nightdesk_data.jobs
                     where batch_id = $1 and kind = 'embed' and input ? 'chunks'
                       and state in ('queued', 'parked')) as waiting`;

const progressSchema = z.object({
  jobs: z.int(),
  ended: z.int(),
  due: z.coerce.number(),
  done: z.coerce.number(),
});

/** Embed jobs of a batch, with counts of their due and embedded chunks. */
export type EmbedProgress = z.infer<typeof progressSchema>;

/** Progress of a batch's embed jobs, from their ranges and their own reports. For small batches. */
export const selectEmbedProgress = (db: Queryable, batchId: string): Promise<EmbedProgress> =>
  oneRowOf(db, progressSchema, [batchId])`
     select count(*)::integer as jobs, count(finished_at)::integer as ended,
            coalesce(sum(given), 0) as due,
            coalesce(sum(case when finished_at is null then coalesce(said, 0) else given end), 0) as done
       from (select finished_at, (progress->>'done')::integer as said,
                    coalesce((input->'chunks'->'range'->>'due')::integer, (progress->>'total')::integer) as given
               from nightdesk_data.jobs left join nightdesk_data.job_progress using (job_id)
              where batch_id = $1 and kind = 'embed') jobs`;
