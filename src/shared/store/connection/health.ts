import { z } from "zod";
import type { Failure } from "../../failure.ts";
import type { Queryable } from "./database.ts";
import { execute, oneRowOf, rowsOf, valueOf, valuesOf } from "./rows.ts";
import { isStorageFault } from "./errors.ts";

const factsSchema = z.object({
  version: z.string(),
  vector: z.string().nullable(),
  is_replica: z.boolean(),
});

/** Versions of the server and of pgvector (null when it is not installed), and whether the server is a replica. */
export const selectServerFacts = (db: Queryable): Promise<z.infer<typeof factsSchema>> =>
  oneRowOf(db, factsSchema)`
     select current_setting('server_version') as version, pg_is_in_recovery() as is_replica,
            (select extversion from pg_extension where extname = 'vector') as vector`;

/** Functions that migrations revoke from the role of `nightdesk sql` but that it can still call. */
export const selectCallableByReader = (db: Queryable): Promise<readonly string[]> =>
  valuesOf(db, z.string())`
     select distinct proname as name from pg_proc
      where pronamespace = 'pg_catalog'::regnamespace and proname ~ '^pg_((try_)?advisory_|logical_emit_message$)'
        and has_function_privilege('nightdesk_reader', oid, 'execute')
      order by 1`;

const vectorSettingsSchema = z.object({
  installed: z.string().nullable(),
  available: z.string().nullable(),
  memory_bytes: z.coerce.number(),
});

/** The version of pgvector in the database, the one that the server offers, and the memory for building an index. */
export const selectVectorSettings = (
  db: Queryable,
): Promise<z.infer<typeof vectorSettingsSchema>> =>
  oneRowOf(db, vectorSettingsSchema)`
     select (select extversion from pg_extension where extname = 'vector') as installed,
            (select default_version from pg_available_extensions where name = 'vector') as available,
            pg_size_bytes(current_setting('maintenance_work_mem')) as memory_bytes`;

const safetySchema = z.object({
  archives: z.boolean(),
  archived_s: z.coerce.number().nullable(),
  is_failing: z.boolean(),
  failed_file: z.string().nullable(),
  standbys: z.coerce.number(),
});

/**
 * What a server knows about copies of itself: whether it archives its log, seconds since the last archived file, whether the last
 * try failed, and how many standbys are connected. It knows nothing about dumps.
 */
export const selectServerCopies = (db: Queryable): Promise<z.infer<typeof safetySchema>> =>
  oneRowOf(db, safetySchema)`
     select current_setting('archive_mode') <> 'off' as archives,
            extract(epoch from clock_timestamp() - a.last_archived_time) as archived_s,
            coalesce(a.last_failed_time > coalesce(a.last_archived_time, '-infinity'), false) as is_failing,
            a.last_failed_wal as failed_file,
            (select count(*) from pg_stat_replication) as standbys
       from pg_stat_archiver a`;

/** Milliseconds by which the database's clock is behind the latest recorded end of a run, because it was set back; else 0. */
export const selectTimeAhead = (db: Queryable): Promise<number> =>
  valueOf(db, z.coerce.number())`
     select coalesce(greatest(0, extract(epoch from max(finished_at) - clock_timestamp()) * 1000), 0) as ahead_ms
       from nightdesk_data.runs`;

const indexSchema = z.object({
  documents: z.coerce.number(),
  chunks: z.coerce.number(),
  outdated_documents: z.coerce.number(),
  documents_without_chunks: z.coerce.number(),
  failed_documents: z.coerce.number(),
  documents_with_secrets: z.coerce.number(),
  secret_kinds: z.array(z.string()),
  incomplete_documents: z.coerce.number(),
  left_out: z.record(z.string(), z.number()),
  missing_vectors: z.coerce.number(),
  outdated_vectors: z.coerce.number(),
});
export type IndexHealth = z.infer<typeof indexSchema>;

type IndexExpectation = {
  /** The configured sources, each with the hash of its chunk settings. */
  readonly sources: readonly { readonly name: string; readonly chunkSettings: string }[];
  readonly embedder: { readonly id: string; readonly signature: string };
};

/** Compares the index with the configuration: counts of documents, chunks and vectors. */
export const selectIndexHealth = (
  db: Queryable,
  { sources, embedder }: IndexExpectation,
): Promise<IndexHealth> =>
  oneRowOf(db, indexSchema, [
    sources.map(({ chunkSettings }) => chunkSettings),
    sources.map(({ name }) => name),
    embedder.id,
    embedder.signature,
  ])`
     select (select count(*) from nightdesk_data.documents) as documents,
            (select count(*) from nightdesk_data.chunks) as chunks,
            (select count(*) from nightdesk_data.documents
               join unnest($2::text[], $1::text[]) as configured (source, settings) using (source)
              where chunk_settings <> settings) as outdated_documents,
            (select count(*) from nightdesk_data.documents d where chars > 0 and not exists (
               select from nightdesk_data.chunks c where c.doc_id = d.doc_id)) as documents_without_chunks,
            (select count(*) from nightdesk_data.document_failures) as failed_documents,
            (select count(*) from nightdesk_data.documents where secrets <> '{}') as documents_with_secrets,
            array(select distinct kind from nightdesk_data.documents, unnest(secrets) kind order by 1) as secret_kinds,
            (select count(*) from nightdesk_data.documents where left_out <> '{}') as incomplete_documents,
            (select coalesce(jsonb_object_agg(kind, of_kind), '{}') from
               (select kind, sum(many::integer) as of_kind from nightdesk_data.documents, jsonb_each_text(left_out) as l (kind, many)
                 where left_out <> '{}' group by kind order by kind) kinds) as left_out,
            (select count(*) from nightdesk_data.chunks c where not exists (
               select from nightdesk_data.embeddings e
                where e.chunk_id = c.chunk_id and e.model = $3)) as missing_vectors,
            (select count(distinct e.chunk_id) from nightdesk_data.embeddings e
              where e.model = $3 and e.signature <> $4 and not exists (
                select from nightdesk_data.embeddings own
                 where own.chunk_id = e.chunk_id and own.signature = $4)) as outdated_vectors`;

/**
 * Checks that the database accepts writes, without a write: a read-only server refuses the statement although it changes no row.
 * Waits for a session that has locked one of the tables that everything reads.
 * @returns the Failure that a write would end with; undefined when a write would succeed
 */
export async function probeWrites(db: Queryable): Promise<Failure | undefined> {
  try {
    await execute(db)`
       update nightdesk_data.installation set windows = windows
        where false and exists (select from nightdesk_data.batches, nightdesk_data.jobs, nightdesk_data.runs,
                                  nightdesk_data.workers, nightdesk_data.documents, nightdesk_data.chunks)`;
    return undefined;
  } catch (error) {
    // The connection has converted it to a Failure.
    if (isStorageFault(error)) return error as Failure;
    throw error;
  }
}

const failureSchema = z.object({
  path: z.string(),
  error_code: z.string(),
  error_message: z.string(),
});
type DocumentFailure = z.infer<typeof failureSchema>;

/** The newest files that could not be indexed, and the count of all. */
export async function selectDocumentFailures(
  db: Queryable,
  limit: number,
): Promise<{ readonly total: number; readonly first: readonly DocumentFailure[] }> {
  const first = await rowsOf(db, failureSchema.extend({ total: z.coerce.number() }), [limit])`
     select path, error_code, error_message, count(*) over () as total
       from nightdesk.failures where origin = 'document' order by at desc, path limit $1`;
  return { total: first[0]?.total ?? 0, first };
}
