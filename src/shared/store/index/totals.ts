import { hash } from "node:crypto";
import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { camelRow, oneRowOf, rowsOf, valueOf } from "../connection/rows.ts";

const totalsSchema = camelRow({
  documents: z.int(),
  /** Documents of sources that are no longer configured. */
  foreign: z.int(),
  chunks: z.int(),
  /** Documents whose frontmatter can't be read. */
  unread_frontmatter: z.int(),
  /** Documents whose extracted text is incomplete. */
  incomplete: z.int(),
  /** Documents whose bytes did not fit into documents.quota. */
  over_quota: z.int(),
  /** Files that could not be indexed. */
  failures: z.int(),
});

const fileFactsSchema = z.object({
  path: z.string(),
  bytes: z.coerce.number(),
  mtime_ns: z.coerce.bigint(),
});
export type IndexedFile = z.infer<typeof fileFactsSchema>;

/** Indexed files with the facts of their last read, the longest unscanned first. */
export const selectIndexedFiles = (db: Queryable, limit: number): Promise<readonly IndexedFile[]> =>
  rowsOf(db, fileFactsSchema, [limit])`
     select path, bytes, mtime_ns from nightdesk_data.documents where mail is null order by scanned_at, doc_id limit $1`;

/** The number of these files that are neither indexed nor recorded as failures. */
export const countUnindexed = (
  db: Queryable,
  source: string,
  paths: readonly string[],
): Promise<number> =>
  valueOf(db, z.int(), [source, paths])`
     select count(*)::integer as missing from unnest($2::text[]) as listed (path)
      where not exists (select from nightdesk_data.documents d where d.source = $1 and d.path = listed.path)
        and not exists (select from nightdesk_data.document_failures f where f.source = $1 and f.path = listed.path)`;

/**
 * Counts the documents and chunks of the whole index.
 * @param sources the names of the configured sources
 */
export const countIndex = (
  db: Queryable,
  sources: readonly string[],
): Promise<z.infer<typeof totalsSchema>> =>
  oneRowOf(db, totalsSchema, [sources])`
     select count(*)::integer as documents,
            (count(*) filter (where source <> all ($1::text[])))::integer as foreign,
            (count(*) filter (where metadata_state = 'unknown'))::integer as unread_frontmatter,
            (count(*) filter (where left_out <> '{}'))::integer as incomplete,
            (count(*) filter (where is_over_quota))::integer as over_quota,
            (select count(*) from nightdesk_data.document_failures)::integer as failures,
            (select coalesce(sum(chunks), 0) from nightdesk_data.chunk_counts)::integer as chunks
       from nightdesk_data.documents`;

const foreignSchema = z.object({ source: z.string(), documents: z.int() });

/** Sources with documents that are not among the given names, by name. */
export const countForeignDocuments = (
  db: Queryable,
  sources: readonly string[],
): Promise<readonly z.infer<typeof foreignSchema>[]> =>
  rowsOf(db, foreignSchema, [sources])`
     select source, count(*)::integer as documents from nightdesk_data.documents
      where source <> all ($1::text[]) group by source order by source`;

type CutChunk = { readonly startChar: number; readonly endChar: number; readonly sha256: string };

/**
 * One hash of a document's chunks: SHA-256 of lines joined by LF, the first the document's sha256, the others `ordinal start_char
 * end_char sha256` of its chunks in order.
 * @returns 64 hex digits
 */
export function chunkProof(documentSha256: string, chunks: readonly CutChunk[]): string {
  const facts = chunks.map(
    ({ startChar, endChar, sha256 }, ordinal) => `${ordinal} ${startChar} ${endChar} ${sha256}`,
  );
  return hash("sha256", [documentSha256, ...facts].join("\n"), "hex");
}

/** SQL: documents whose chunks no longer match their stored hash, by the formula of `chunkProof`. */
const UNPROVED_DOCUMENTS = `
  select d.doc_id
    from nightdesk_data.documents d
    left join (select doc_id,
                      string_agg(ordinal || ' ' || start_char || ' ' || end_char || ' ' || sha256, E'\\n'
                                 order by ordinal) as facts
                 from nightdesk_data.chunks group by doc_id) cut using (doc_id)
   where d.chunks_sha256 <> encode(sha256(convert_to(concat_ws(E'\\n', d.sha256, cut.facts), 'UTF8')), 'hex')`;

const faultsSchema = z.object({
  /** Documents with a chunk that has a gap before its number, reaches beyond the document's end, or is in another language. */
  documents: z.int(),
  /** Documents that differ from those that their chunks were cut from, or that lack a chunk. */
  proofs: z.int(),
  /** Chunks whose text does not match its hash. */
  chunks: z.int(),
  /** Chunks with words that are in no segment or in several. */
  segments: z.int(),
  /** Segments whose postings do not match their chunks. */
  postings: z.int(),
  /** Chunks that are both dead and live, or neither. */
  dead: z.int(),
  /** 1 when the counts for weights of a search are wrong, else 0. */
  counts: z.int(),
});
/** Counts of contradictions in the index; all 0 in a sound one. */
export type IndexFaults = z.infer<typeof faultsSchema>;

/**
 * Compares the tables of the index with each other. Reads all of it: some seconds for 100,000 chunks. Uses one statement, so that
 * a concurrent scan does not look like a fault.
 */
export const findIndexFaults = (db: Queryable): Promise<IndexFaults> =>
  oneRowOf(db, faultsSchema)`${FAULTS}`;

const FAULTS = `
  with placed as materialized (
    select segment_id, chunk_id from nightdesk_data.segments, unnest(chunk_ids) as chunk_id),
  known as materialized (
    select coalesce(merged_into, segment_id) as segment_id, placed.chunk_id, c.terms, d.chunk_id is not null as is_dead
      from placed join nightdesk_data.segments using (segment_id)
      left join nightdesk_data.chunks c using (chunk_id)
      left join nightdesk_data.dead_chunks d using (chunk_id)),
  expected as materialized (
    select segment_id, sum(terms) as entries, bool_or(terms is null) as is_decayed from known group by segment_id),
  -- Only segments with a chunk that is gone are unnested.
  found as materialized (
    select segment_id,
           sum(case when is_decayed then (
                 select count(*) from unnest(entries_of.entries) as entry
                  where exists (select from nightdesk_data.chunks c where c.chunk_id = entry >> 24))
               else cardinality(entries_of.entries) end) as entries
      from (select coalesce(merged_into, p.segment_id) as segment_id, entries
              from nightdesk_data.postings p left join nightdesk_data.segments using (segment_id)) entries_of
      left join expected using (segment_id)
     group by segment_id)
  select (select count(*) from nightdesk_data.documents d
           where exists (select from nightdesk_data.chunks c where c.doc_id = d.doc_id
                         having count(*) > 0 and (max(ordinal) <> count(*) - 1 or min(ordinal) <> 0
                                                  or max(end_char) > d.chars
                                                  or bool_or(c.language <> d.language))))::integer as documents,
         (select count(*) from (${UNPROVED_DOCUMENTS}) unproved)::integer as proofs,
         (select count(*) from nightdesk_data.chunks
           where sha256 <> encode(sha256(convert_to(text, 'UTF8')), 'hex'))::integer as chunks,
         (select count(*) from (
            select chunk_id from nightdesk_data.chunks left join placed using (chunk_id)
             where terms > 0 group by chunk_id having count(segment_id) <> 1) astray)::integer as segments,
         (select count(*) from expected full join found using (segment_id)
           where coalesce(expected.entries, 0) <> coalesce(found.entries, 0)
              or (expected.segment_id is null))::integer as postings,
         ((select count(*) from known where (terms is null) <> is_dead)
          + (select count(*) from nightdesk_data.dead_chunks
              where not exists (select from placed where placed.chunk_id = dead_chunks.chunk_id)))::integer as dead,
         exists (select from (select language, sum(chunks) as chunks, sum(terms) as terms
                                from nightdesk_data.chunk_counts group by language) kept
                   full join (select language, count(*) as chunks, sum(terms) as terms
                                from nightdesk_data.chunks group by language) true_counts using (language)
                  where coalesce(kept.chunks, 0) <> coalesce(true_counts.chunks, 0)
                     or coalesce(kept.terms, 0) <> coalesce(true_counts.terms, 0))::integer as counts`;
