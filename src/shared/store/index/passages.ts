import { z } from "zod";
import { locatorSchema } from "../../job/locator.ts";
import type { Queryable } from "../connection/database.ts";
import { anyRow, camelRow, rowsOf } from "../connection/rows.ts";
import { ALLOWED_CHUNKS, filterValues, isFiltered } from "./search-filter.ts";
import type { SearchFilter } from "./search-filter.ts";

const passageSchema = camelRow({
  chunk_id: z.string(),
  chunk_key: z.string(),
  source: z.string(),
  path: z.string(),
  /** Hash of the document's bytes when it was indexed. */
  sha256: z.string(),
  /** Version of the extractor of the document's text. */
  extractor: z.string(),
  doc_chars: z.int(),
  /** Whether its document has more text than this; white space at the document's ends does not count. */
  truncated: z.boolean(),
  heading_path: z.string().nullable(),
  locator: locatorSchema.nullable(),
  /** Content that a person sees in its document but the extracted text lacks, counted by kind. */
  left_out: z.record(z.string(), z.number()).optional(),
  title: z.string().nullable(),
  start_char: z.int(),
  end_char: z.int(),
  line_start: z.int(),
  line_end: z.int(),
  text: z.string(),
});

/** A chunk with the proof of its origin. Offsets in code points, lines from 1 and inclusive. */
export type StoredPassage = Omit<z.infer<typeof passageSchema>, "chunkId">;

/** Loads chunks by their id, without chunks that were deleted since the search. */
export async function loadPassages(
  db: Queryable,
  chunkIds: readonly string[],
): Promise<Map<string, StoredPassage>> {
  const rows = await rowsOf(db, passageSchema, [chunkIds], "load_passages")`
     select c.chunk_id::text, c.chunk_key, d.source, d.path, d.sha256, d.extractor, d.chars as doc_chars, c.heading_path, c.locator, d.left_out, d.title,
            -- Frontmatter that was read stands before the chunks.
            d.metadata_state = 'present' or exists (select from nightdesk_data.chunks other
              where other.doc_id = c.doc_id and other.chunk_id <> c.chunk_id) as truncated,
            c.start_char, c.end_char, c.line_start, c.line_end, c.text
       from nightdesk_data.chunks c join nightdesk_data.documents d using (doc_id)
      where c.chunk_id = any ($1::bigint[])`;
  return new Map(rows.map(({ chunkId, ...passage }) => [chunkId, passage]));
}

/** Whether the documents that pass a filter have any chunk; ignores the question's phrases and excluded words. */
export async function anyChunkPasses(db: Queryable, filter: SearchFilter): Promise<boolean> {
  const documents = { ...filter, phrases: [], excluded: [] };
  if (!isFiltered(documents)) return true;
  return anyRow(db, [
    1,
    ...filterValues(documents),
  ])`with ${ALLOWED_CHUNKS} select from allowed limit $1::bigint`;
}
