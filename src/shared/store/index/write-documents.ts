import { z } from "zod";
import type { Period } from "../../text/date-period.ts";
import type { Language } from "../../text/language.ts";
import type { Locator } from "../../job/locator.ts";
import { integerArray, textArray } from "../connection/binary-arrays.ts";
import type { Queryable } from "../connection/database.ts";
import { countRows, execute, rowsOf } from "../connection/rows.ts";
import type { FileFacts, IndexedDocument, MailLink } from "./documents.ts";
import { invertCounts, lexemeCounter } from "./postings.ts";
import type { CountedChunk, Postings, WordCounts } from "./postings.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** A chunk to write: offsets in code points, lines from 1 and inclusive. */
export type ChunkToWrite = {
  readonly key: string;
  readonly headingPath: string | null;
  readonly locator: Locator | null;
  readonly startChar: number;
  readonly endChar: number;
  readonly lineStart: number;
  readonly lineEnd: number;
  readonly text: string;
  readonly sha256: string;
  /** The words that it is found by, including those of its title, headings and file name. */
  readonly words: Int32Array;
};

/** Consecutive chunks, and the vocabulary that numbers their words. */
export type ChunkSlice = {
  readonly chunks: readonly ChunkToWrite[];
  readonly vocabulary: Vocabulary;
};

/** The chunks of a document in order: `held` in memory, or `packed`, so that each iteration unpacks slice after slice. */
export type DocumentChunks = {
  readonly kind: "held" | "packed";
  readonly count: number;
  /** Joined by commas. */
  readonly keys: string;
  readonly slices: Iterable<ChunkSlice>;
};

/** The chunks of a document that are all in memory. */
export const holdChunks = (
  chunks: readonly ChunkToWrite[],
  vocabulary: Vocabulary,
): DocumentChunks => ({
  kind: "held",
  count: chunks.length,
  keys: joinKeys(chunks),
  slices: [{ chunks, vocabulary }],
});

export const joinKeys = (chunks: readonly ChunkToWrite[]): string =>
  chunks.map(({ key }) => key).join(",");

/** A date of a document and its days, with the source of the date. */
type DatedBy = Period & { readonly source: string; readonly date: string };

export type DocumentToWrite = MailLink & {
  readonly path: string;
  readonly sha256: string;
  /** Version of the extractor of its text. */
  readonly extractor: string;
  readonly chars: number;
  readonly facts: FileFacts;
  /** Whether any later write changes the facts; false for a file that changed just before it was read. */
  readonly settled: boolean;
  readonly title: string | null;
  readonly metadataState: "absent" | "unknown" | "present";
  /** Why the frontmatter can't be read, as a clause; null unless it is unknown. */
  readonly metadataProblem: string | null;
  /** JSON of the metadata; null unless present. */
  readonly metadata: string | null;
  /** The most trusted first, which is the document's day. */
  readonly dates: readonly DatedBy[];
  /** Result of `familyKey`. */
  readonly family: string | null;
  /** Result of `supersededPaths`. */
  readonly supersedes: readonly string[];
  /** Kinds of secret keys and tokens in its text. */
  readonly secrets: readonly string[];
  /** Content that its extracted text lacks, counted by kind. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** Result of `sketchToHex`; null for a text that is too short. */
  readonly sketch: string | null;
  /** Hash of its chunks, from `chunkProof`. */
  readonly chunksSha256: string;
  readonly chunks: DocumentChunks;
  /** `all` replaces existing chunks and so deletes their vectors; `changed` keeps unchanged chunks and their vectors. */
  readonly replace: "changed" | "all";
};

export type PortionToWrite = {
  readonly source: string;
  readonly chunkSettings: string;
  readonly language: Language;
  /** Sorted by path, so that two scans of one source can't deadlock. */
  readonly documents: readonly DocumentToWrite[];
};

/** Writes documents, and their chunks in slices, each with one segment of postings. Must run in a transaction. */
export async function writeDocuments(db: Queryable, portion: PortionToWrite): Promise<void> {
  // A crash of the server may lose this commit, documents and facts together, and then the files are scanned again. The end of
  // the job commits later and waits for the disk, which covers this commit too.
  await execute(db)`select set_config('synchronous_commit', 'off', true)`;
  const docIds = await upsertDocuments(db, portion);
  await removeStaleChunks(db, docIds, portion);
  for (const chunks of slicesOf(portion, docIds)) await insertChunks(db, chunks, portion.language);
}

type PlacedChunk = ChunkToWrite & {
  readonly ordinal: number;
  readonly docId: string | undefined;
  readonly vocabulary: Vocabulary;
};

/** Even at worst, the parameters of so large a statement are built within some 100 ms. */
const HELD_SLICE = { chunks: 4_000, words: 250_000 };
/** Fewer words, because they are also numbered in the same turn of the event loop. */
export const PACKED_SLICE = { chunks: 4_000, words: 50_000 };

/** The chunks of each statement: a packed slice, or held chunks of all documents together. */
function* slicesOf(
  { documents }: PortionToWrite,
  docIds: ReadonlyMap<string, string>,
): Generator<readonly PlacedChunk[]> {
  const held: PlacedChunk[] = [];
  for (const { path, chunks: own } of documents) {
    const docId = docIds.get(path);
    let first = 0;
    for (const { chunks, vocabulary } of own.slices) {
      const from = first;
      const placed = chunks.map((chunk, at) => ({
        ...chunk,
        vocabulary,
        ordinal: from + at,
        docId,
      }));
      first += chunks.length;
      if (own.kind === "packed") yield placed;
      else for (const chunk of placed) held.push(chunk);
    }
  }
  yield* sliceChunks(held, HELD_SLICE);
}

/** Splits chunks into slices, each of which ends when it reaches `most` chunks or words. */
export function* sliceChunks<T extends { readonly words: Int32Array }>(
  chunks: Iterable<T>,
  most: { readonly chunks: number; readonly words: number },
): Generator<T[]> {
  let slice: T[] = [];
  let words = 0;
  for (const chunk of chunks) {
    slice.push(chunk);
    words += chunk.words.length;
    if (slice.length < most.chunks && words < most.words) continue;
    yield slice;
    slice = [];
    words = 0;
  }
  if (slice.length > 0) yield slice;
}

const docIdsSchema = z.object({ doc_id: z.string(), path: z.string() });

async function upsertDocuments(
  db: Queryable,
  { source, chunkSettings, language, documents }: PortionToWrite,
): Promise<ReadonlyMap<string, string>> {
  const fact = (key: keyof FileFacts) => documents.map(({ facts }) => String(facts[key]));
  const rows = await rowsOf(db, docIdsSchema, [
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
    language,
    documents.map(({ chunksSha256 }) => chunksSha256),
    documents.map(({ metadataProblem }) => metadataProblem),
    documents.map(({ extractor }) => extractor),
    documents.map(({ dates }) => dates[0]?.from ?? null),
    documents.map(({ dates }) => dates[0]?.to ?? null),
    documents.map(({ dates }) => dates[0]?.source ?? null),
    documents.map(({ dates }) =>
      JSON.stringify(dates.map(({ source: of, date }) => ({ source: of, date }))),
    ),
    documents.map(({ family }) => family),
    documents.map(({ supersedes }) => JSON.stringify(supersedes)),
    documents.map(({ mail }) => mail),
    documents.map(({ attachments }) => attachments),
    documents.map(({ sketch }) => sketch),
    documents.map(({ secrets }) => secrets.join(" ")),
    documents.map(({ leftOut }) => JSON.stringify(leftOut)),
  ])`
     insert into nightdesk_data.documents as d
       (source, path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device, settled, title, metadata_state,
        metadata, chunk_settings, language, chunks_sha256, metadata_problem, extractor, day, day_until, day_source,
        dates, family, supersedes, mail, attachments, sketch, secrets, left_out)
     select $1, path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device, settled, title, metadata_state,
            metadata::jsonb, $2, $15, chunks_sha256, metadata_problem, extractor, day, day_until, day_source,
            dates::jsonb, family, array(select jsonb_array_elements_text(supersedes::jsonb)),
            mail, attachments, decode(sketch, 'hex'), string_to_array(secrets, ' '), left_out::jsonb
       from unnest($3::text[], $4::text[], $5::bigint[], $6::integer[], $7::bigint[], $8::bigint[], $9::bigint[],
                   $10::bigint[], $11::boolean[], $12::text[], $13::text[], $14::text[], $16::text[],
                   $17::text[], $18::text[], $19::date[], $20::date[], $21::text[], $22::text[], $23::text[],
                   $24::text[], $25::text[], $26::integer[], $27::text[], $28::text[], $29::text[])
            as u (path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device, settled, title, metadata_state,
                  metadata, chunks_sha256, metadata_problem, extractor, day, day_until, day_source, dates, family,
                  supersedes, mail, attachments, sketch, secrets, left_out)
     on conflict (source, path) do update
        set sha256 = excluded.sha256, bytes = excluded.bytes, chars = excluded.chars,
            mtime_ns = excluded.mtime_ns, ctime_ns = excluded.ctime_ns, inode = excluded.inode,
            device = excluded.device, settled = excluded.settled, title = excluded.title,
            metadata_state = excluded.metadata_state, metadata = excluded.metadata,
            chunk_settings = excluded.chunk_settings, language = excluded.language,
            chunks_sha256 = excluded.chunks_sha256, metadata_problem = excluded.metadata_problem,
            extractor = excluded.extractor, day = excluded.day, day_until = excluded.day_until,
            day_source = excluded.day_source, dates = excluded.dates, family = excluded.family,
            supersedes = excluded.supersedes, mail = excluded.mail, attachments = excluded.attachments,
            sketch = excluded.sketch, secrets = excluded.secrets, left_out = excluded.left_out, is_over_quota = false,
            scanned_at = now(), indexed_at = now()
     returning doc_id::text, path`;
  return new Map(rows.map(({ doc_id, path }) => [path, doc_id]));
}

/** Removes chunks whose key is gone; the others keep their row, postings and vectors. */
async function removeStaleChunks(
  db: Queryable,
  docIds: ReadonlyMap<string, string>,
  { documents }: PortionToWrite,
): Promise<void> {
  const keptKeys = documents.flatMap(({ chunks, replace }) =>
    replace === "all" ? [] : chunks.keys,
  );
  await execute(db, [[...docIds.values()], keptKeys.join(",")])`
     delete from nightdesk_data.chunks
      where doc_id = any ($1::bigint[]) and not chunk_key = any (string_to_array($2, ','))`;
}

/** Writes chunks, and one segment of the postings of new chunks. Existing chunks move to their position with their postings. */
async function insertChunks(
  db: Queryable,
  chunks: readonly PlacedChunk[],
  language: Language,
): Promise<void> {
  const vocabulary = chunks[0]?.vocabulary;
  if (vocabulary === undefined) return;
  const words = chunks.map((chunk) => chunk.words);
  await vocabulary.learn(db, words);
  const fresh = await upsertChunks(db, chunks, {
    language,
    counts: words.map(lexemeCounter(vocabulary)),
  });
  if (fresh.length > 0) await insertPostings(db, invertCounts(fresh, vocabulary), fresh);
}

const writtenSchema = z.object({ chunk_id: z.string(), place: z.string(), is_new: z.boolean() });

/** @returns new chunks that have words, by id */
async function upsertChunks(
  db: Queryable,
  chunks: readonly PlacedChunk[],
  {
    language,
    counts,
  }: { readonly language: PortionToWrite["language"]; readonly counts: readonly WordCounts[] },
): Promise<CountedChunk[]> {
  const texts = (valueOf: (chunk: PlacedChunk) => string | null) => textArray(chunks.map(valueOf));
  const integers = (valueOf: (chunk: PlacedChunk) => number) => integerArray(chunks.map(valueOf));
  const rows = await rowsOf(db, writtenSchema, [
    chunks.map(({ docId }) => docId),
    texts(({ key }) => key),
    integers(({ ordinal }) => ordinal),
    texts(({ headingPath }) => headingPath),
    integers(({ startChar }) => startChar),
    integers(({ endChar }) => endChar),
    integers(({ lineStart }) => lineStart),
    integers(({ lineEnd }) => lineEnd),
    texts(({ text }) => text),
    texts(({ sha256 }) => sha256),
    integerArray(counts.map(({ lexemes }) => lexemes.length)),
    language,
    texts(({ locator }) => (locator === null ? null : JSON.stringify(locator))),
  ])`${UPSERT_CHUNKS}`;
  return rows.flatMap(({ chunk_id: chunkId, place, is_new: isNew }) => {
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
                  $7::integer[], $8::integer[], $9::text[], $10::text[], $11::integer[], $13::text[]) with ordinality
           as u (doc_id, chunk_key, ordinal, heading_path, start_char, end_char, line_start, line_end, text, sha256,
                 terms, locator, place)),
  written as (
    insert into nightdesk_data.chunks
      (doc_id, chunk_key, ordinal, heading_path, start_char, end_char, line_start, line_end, text, sha256, terms,
       language, locator)
    select doc_id, chunk_key, ordinal, heading_path, start_char, end_char, line_start, line_end, text, sha256, terms,
           $12, locator::jsonb
      from given
    on conflict (chunk_key) do update
       set doc_id = excluded.doc_id, ordinal = excluded.ordinal, start_char = excluded.start_char,
           end_char = excluded.end_char, line_start = excluded.line_start, line_end = excluded.line_end,
           locator = excluded.locator
    returning chunk_id, chunk_key, xmax = 0 as is_new)
  select chunk_id::text, place::text, is_new from written join given using (chunk_key) order by written.chunk_id`;

const insertPostings = (
  db: Queryable,
  { terms, starts, lengths, entries }: Postings,
  chunks: readonly CountedChunk[],
): Promise<void> =>
  execute(db, [
    chunks.map(({ chunkId }) => chunkId),
    textArray(terms),
    integerArray(starts),
    integerArray(lengths),
    entries.bytes,
  ])`
     with segment as (
       insert into nightdesk_data.segments (chunk_ids) values ($1::bigint[]) returning segment_id)
     insert into nightdesk_data.postings (term, segment_id, entries)
     select term, segment_id, ($5::bigint[])[start : start + length - 1]
       from segment, unnest($2::text[], $3::integer[], $4::integer[]) as given (term, start, length)
      order by term collate "C"`;

/**
 * Removes documents with their chunks and vectors, except those that another scan has read since they were loaded.
 * @returns how many were removed
 */
export const removeDocuments = (
  db: Queryable,
  documents: readonly Pick<IndexedDocument, "docId" | "facts">[],
): Promise<number> =>
  countRows(db, [
    documents.map(({ docId }) => docId),
    documents.map(({ facts }) => String(facts.ctimeNs)),
  ])`
     delete from nightdesk_data.documents d
      using unnest($1::bigint[], $2::bigint[]) as gone (doc_id, ctime_ns)
      where d.doc_id = gone.doc_id and d.ctime_ns = gone.ctime_ns`;

/**
 * Removes documents and failures of sources that are not among the given names.
 * @returns how many documents were removed
 */
export const removeForeignDocuments = (
  db: Queryable,
  sources: readonly string[],
): Promise<number> =>
  countRows(db, [sources])`
     with failures as (
       delete from nightdesk_data.document_failures where source <> all ($1::text[]))
     delete from nightdesk_data.documents where source <> all ($1::text[])`;
