import { z } from "zod";
import type { Queryable } from "../database.ts";
import type { Language } from "../../language.ts";
import { chunkProof } from "./chunk-proof.ts";
import type { FileFacts } from "./document-facts.ts";
import { insertChunks } from "./insert-chunks.ts";
import type { Vocabulary } from "./vocabulary.ts";

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
  /** The words that it is found by, those of its title, headings and file name among them. */
  readonly words: Int32Array;
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
  /** Why the frontmatter can't be read, as a clause; null unless it is unknown. */
  readonly metadataProblem: string | null;
  /** JSON of the metadata; null unless present. */
  readonly metadata: string | null;
  readonly chunks: readonly ChunkToWrite[];
  /** `all` writes chunks anew that are there already, vectors lost; `changed` keeps them with their vectors. */
  readonly replace: "changed" | "all";
};

export type PortionToWrite = {
  readonly source: string;
  readonly chunkSettings: string;
  readonly language: Language;
  /** In order of path, so that two scans of one source can't wait for each other in a circle. */
  readonly documents: readonly DocumentToWrite[];
  /** Of the language; what the numbers of the chunks' words mean. */
  readonly vocabulary: Vocabulary;
};

/** Writes documents, their chunks and one segment of postings. Must run in a transaction. */
export async function writeDocuments(db: Queryable, portion: PortionToWrite): Promise<void> {
  // What a crash of the server loses of it is scanned again, because documents and facts are lost together; and the
  // end of the job is committed later, with a wait that covers it.
  await db.query("select set_config('synchronous_commit', 'off', true)");
  const docIds = await upsertDocuments(db, portion);
  await removeStaleChunks(db, docIds, portion);
  const chunks = portion.documents.flatMap(({ path, chunks: own }) =>
    own.map((chunk, ordinal) => ({ ...chunk, ordinal, docId: docIds.get(path) })),
  );
  await insertChunks(db, chunks, portion);
}

const docIdsSchema = z.array(z.object({ doc_id: z.string(), path: z.string() }));

async function upsertDocuments(
  db: Queryable,
  { source, chunkSettings, language, documents }: PortionToWrite,
): Promise<ReadonlyMap<string, string>> {
  const fact = (key: keyof FileFacts) => documents.map(({ facts }) => String(facts[key]));
  const { rows } = await db.query(
    `insert into nightdesk_data.documents as d
       (source, path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device, settled, title, metadata_state,
        metadata, chunk_settings, language, chunks_sha256, metadata_problem)
     select $1, path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device, settled, title, metadata_state,
            metadata::jsonb, $2, $15, chunks_sha256, metadata_problem
       from unnest($3::text[], $4::text[], $5::bigint[], $6::integer[], $7::bigint[], $8::bigint[], $9::bigint[],
                   $10::bigint[], $11::boolean[], $12::text[], $13::text[], $14::text[], $16::text[],
                   $17::text[])
            as u (path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device, settled, title, metadata_state,
                  metadata, chunks_sha256, metadata_problem)
     on conflict (source, path) do update
        set sha256 = excluded.sha256, bytes = excluded.bytes, chars = excluded.chars,
            mtime_ns = excluded.mtime_ns, ctime_ns = excluded.ctime_ns, inode = excluded.inode,
            device = excluded.device, settled = excluded.settled, title = excluded.title,
            metadata_state = excluded.metadata_state, metadata = excluded.metadata,
            chunk_settings = excluded.chunk_settings, language = excluded.language,
            chunks_sha256 = excluded.chunks_sha256, metadata_problem = excluded.metadata_problem,
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
      language,
      documents.map(({ sha256, chunks }) => chunkProof(sha256, chunks)),
      documents.map(({ metadataProblem }) => metadataProblem),
    ],
  );
  return new Map(docIdsSchema.parse(rows).map(({ doc_id, path }) => [path, doc_id]));
}

/** A chunk whose key is still there keeps its row, its postings and its vectors. */
async function removeStaleChunks(
  db: Queryable,
  docIds: ReadonlyMap<string, string>,
  { documents }: PortionToWrite,
): Promise<void> {
  const kept = documents.flatMap(({ chunks, replace }) =>
    replace === "all" ? [] : chunks.map(({ key }) => key),
  );
  await db.query(
    `delete from nightdesk_data.chunks
      where doc_id = any ($1::bigint[]) and not chunk_key = any ($2::text[])`,
    [[...docIds.values()], kept],
  );
}
