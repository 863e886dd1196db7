import { z } from "zod";
import type { Queryable } from "../database.ts";
import type { FileFacts } from "./document-facts.ts";
import { POSTING, TEXT_SEARCH } from "./text-search.ts";

/** A chunk as it is written: offsets in code points, lines from 1 and inclusive. */
export type ChunkToWrite = {
  readonly key: string;
  readonly headingPath: string | null;
  readonly startChar: number;
  readonly endChar: number;
  readonly lineStart: number;
  readonly lineEnd: number;
  readonly text: string;
  readonly sha256: string;
  /** What is searched besides the text: title, headings, file name, identifiers. */
  readonly searchable: string;
};

export type DocumentToWrite = {
  readonly path: string;
  readonly sha256: string;
  readonly chars: number;
  readonly facts: FileFacts;
  /** Whether the facts would tell of another write. */
  readonly settled: boolean;
  readonly title: string | null;
  readonly metadataState: "absent" | "unknown" | "present";
  /** JSON of the metadata; null unless present. */
  readonly metadata: string | null;
  readonly chunks: readonly ChunkToWrite[];
};

export type PortionToWrite = {
  readonly source: string;
  readonly chunkSettings: string;
  /** In order of path, so that two scans of one source can't wait for each other in a circle. */
  readonly documents: readonly DocumentToWrite[];
  /** `all` writes chunks anew that are there already, vectors lost; `changed` keeps them with their vectors. */
  readonly replace: "changed" | "all";
};

/** Writes documents, their chunks and one segment of postings. Must run in a transaction. */
export async function writeDocuments(db: Queryable, portion: PortionToWrite): Promise<void> {
  // Postings of a portion are aggregated in memory: the default of 4 MB would spill them to disk.
  await db.query("select set_config('work_mem', '64MB', true)");
  const docIds = await upsertDocuments(db, portion);
  await removeStaleChunks(db, docIds, portion);
  await insertChunks(db, docIds, portion);
}

const docIdsSchema = z.array(z.object({ doc_id: z.string(), path: z.string() }));

async function upsertDocuments(
  db: Queryable,
  { source, chunkSettings, documents }: PortionToWrite,
): Promise<ReadonlyMap<string, string>> {
  const fact = (key: keyof FileFacts) => documents.map(({ facts }) => String(facts[key]));
  const { rows } = await db.query(
    `insert into nightdesk_data.documents as d
       (source, path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device, settled, title, metadata_state,
        metadata, chunk_settings)
     select $1, path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device, settled, title, metadata_state,
            metadata::jsonb, $2
       from unnest($3::text[], $4::text[], $5::bigint[], $6::integer[], $7::bigint[], $8::bigint[], $9::bigint[],
                   $10::bigint[], $11::boolean[], $12::text[], $13::text[], $14::text[])
            as u (path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device, settled, title, metadata_state,
                  metadata)
     on conflict (source, path) do update
        set sha256 = excluded.sha256, bytes = excluded.bytes, chars = excluded.chars,
            mtime_ns = excluded.mtime_ns, ctime_ns = excluded.ctime_ns, inode = excluded.inode,
            device = excluded.device, settled = excluded.settled, title = excluded.title,
            metadata_state = excluded.metadata_state, metadata = excluded.metadata,
            chunk_settings = excluded.chunk_settings,
            scanned_at = now(), indexed_at = now()
     returning doc_id::text, path`,
    [
      source,
      chunkSettings,
      documents.map(({ path }) => path),
      documents.map(({ sha256 }) => sha256),
      fact("bytes"),
      documents.map(({ chars }) => chars),
      fact("mtimeNs"),
      fact("ctimeNs"),
      fact("inode"),
      fact("device"),
      documents.map(({ settled }) => settled),
      documents.map(({ title }) => title),
      documents.map(({ metadataState }) => metadataState),
      documents.map(({ metadata }) => metadata),
    ],
  );
  return new Map(docIdsSchema.parse(rows).map(({ doc_id, path }) => [path, doc_id]));
}

/** A chunk whose key is still there keeps its row, its postings and its vectors. */
async function removeStaleChunks(
  db: Queryable,
  docIds: ReadonlyMap<string, string>,
  { documents, replace }: PortionToWrite,
): Promise<void> {
  const kept =
    replace === "all" ? [] : documents.flatMap(({ chunks }) => chunks.map(({ key }) => key));
  await db.query(
    `delete from nightdesk_data.chunks
      where doc_id = any ($1::bigint[]) and not chunk_key = any ($2::text[])`,
    [[...docIds.values()], kept],
  );
}

/**
 * One statement for chunks and postings. A chunk that is there moves to its new place; a new one is counted into
 * the portion's segment, in order of chunk_id.
 */
async function insertChunks(
  db: Queryable,
  docIds: ReadonlyMap<string, string>,
  { documents }: PortionToWrite,
): Promise<void> {
  const rows = documents.flatMap(({ path, chunks }) =>
    chunks.map((chunk, ordinal) => ({ ...chunk, ordinal, docId: docIds.get(path) })),
  );
  if (rows.length === 0) return;
  const column = (key: keyof (typeof rows)[number]) => rows.map((row) => row[key]);
  await db.query(INSERT_CHUNKS, [
    column("docId"),
    column("key"),
    column("ordinal"),
    column("headingPath"),
    column("startChar"),
    column("endChar"),
    column("lineStart"),
    column("lineEnd"),
    column("text"),
    column("sha256"),
    column("searchable"),
  ]);
}

const INSERT_CHUNKS = `
  with given as materialized (
    select u.*, to_tsvector('${TEXT_SEARCH}', searchable || E'\\n' || text) as words
      from unnest($1::bigint[], $2::text[], $3::integer[], $4::text[], $5::integer[], $6::integer[],
                  $7::integer[], $8::integer[], $9::text[], $10::text[], $11::text[])
           as u (doc_id, chunk_key, ordinal, heading_path, start_char, end_char, line_start, line_end, text, sha256,
                 searchable)),
  written as materialized (
    insert into nightdesk_data.chunks
      (doc_id, chunk_key, ordinal, heading_path, start_char, end_char, line_start, line_end, text, sha256, terms)
    select doc_id, chunk_key, ordinal, heading_path, start_char, end_char, line_start, line_end, text, sha256,
           length(words)
      from given
    on conflict (chunk_key) do update
       set doc_id = excluded.doc_id, ordinal = excluded.ordinal, start_char = excluded.start_char,
           end_char = excluded.end_char, line_start = excluded.line_start, line_end = excluded.line_end
    returning chunk_id, chunk_key, terms, xmax = 0 as is_new),
  fresh as materialized (
    select chunk_id, terms, words from written join given using (chunk_key)
     where is_new and terms > 0 order by chunk_id),
  segment as (
    insert into nightdesk_data.segments (chunk_ids)
    select array_agg(chunk_id) from fresh having count(*) > 0 returning segment_id),
  postings as (
    select lexeme, array_agg(${POSTING.pack("chunk_id", "cardinality(positions)", "terms")}) as entries
      from fresh, unnest(words) group by lexeme)
  insert into nightdesk_data.postings (term, segment_id, entries)
  select lexeme, segment_id, entries from postings, segment`;
