import { z } from "zod";
import type { Queryable } from "../database.ts";
import {
  type CountedChunk,
  invertCounts,
  lexemeCounter,
  type Postings,
  type WordCounts,
} from "./postings.ts";
import type { ChunkToWrite, PortionToWrite } from "./write-documents.ts";

type PlacedChunk = ChunkToWrite & { readonly ordinal: number; readonly docId: string | undefined };

/**
 * Writes chunks and one segment with the postings of those that are new. A chunk that is there already moves to its
 * new place and keeps its postings.
 */
export async function insertChunks(
  db: Queryable,
  chunks: readonly PlacedChunk[],
  { vocabulary, language }: Pick<PortionToWrite, "vocabulary" | "language">,
): Promise<void> {
  if (chunks.length === 0) return;
  const words = chunks.map((chunk) => chunk.words);
  await vocabulary.learn(db, words);
  const fresh = await upsertChunks(db, chunks, {
    language,
    counts: words.map(lexemeCounter(vocabulary)),
  });
  if (fresh.length > 0) await insertPostings(db, invertCounts(fresh, vocabulary), fresh);
}

const writtenSchema = z.array(
  z.object({ chunk_id: z.string(), place: z.string(), is_new: z.boolean() }),
);

/** @returns those that are new and hold a word, in order of their ids */
async function upsertChunks(
  db: Queryable,
  chunks: readonly PlacedChunk[],
  {
    language,
    counts,
  }: { readonly language: PortionToWrite["language"]; readonly counts: readonly WordCounts[] },
): Promise<CountedChunk[]> {
  const column = (key: keyof PlacedChunk) => chunks.map((chunk) => chunk[key]);
  const { rows } = await db.query(UPSERT_CHUNKS, [
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
    counts.map(({ lexemes }) => lexemes.length),
    language,
  ]);
  return writtenSchema.parse(rows).flatMap(({ chunk_id: chunkId, place, is_new: isNew }) => {
    const counted = counts[Number(place) - 1];
    return isNew && counted !== undefined && counted.lexemes.length > 0
      ? [{ chunkId, counts: counted }]
      : [];
  });
}

const UPSERT_CHUNKS = `
  with given as materialized (
    select *
      from unnest($1::bigint[], $2::text[], $3::integer[], $4::text[], $5::integer[], $6::integer[],
                  $7::integer[], $8::integer[], $9::text[], $10::text[], $11::integer[]) with ordinality
           as u (doc_id, chunk_key, ordinal, heading_path, start_char, end_char, line_start, line_end, text, sha256,
                 terms, place)),
  written as (
    insert into nightdesk_data.chunks
      (doc_id, chunk_key, ordinal, heading_path, start_char, end_char, line_start, line_end, text, sha256, terms,
       language)
    select doc_id, chunk_key, ordinal, heading_path, start_char, end_char, line_start, line_end, text, sha256, terms,
           $12
      from given
    on conflict (chunk_key) do update
       set doc_id = excluded.doc_id, ordinal = excluded.ordinal, start_char = excluded.start_char,
           end_char = excluded.end_char, line_start = excluded.line_start, line_end = excluded.line_end
    returning chunk_id, chunk_key, xmax = 0 as is_new)
  select chunk_id::text, place::text, is_new from written join given using (chunk_key) order by written.chunk_id`;

async function insertPostings(
  db: Queryable,
  { terms, starts, lengths, entries }: Postings,
  chunks: readonly CountedChunk[],
): Promise<void> {
  await db.query(
    `with segment as (
       insert into nightdesk_data.segments (chunk_ids) values ($1::bigint[]) returning segment_id)
     insert into nightdesk_data.postings (term, segment_id, entries)
     select term, segment_id, ($5::bigint[])[start : start + length - 1]
       from segment, unnest($2::text[], $3::integer[], $4::integer[]) as given (term, start, length)`,
    [chunks.map(({ chunkId }) => chunkId), terms, starts, lengths, `{${entries.join(",")}}`],
  );
}
