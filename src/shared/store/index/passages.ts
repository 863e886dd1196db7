import { z } from "zod";
import { locatorSchema } from "../../locator.ts";
import type { Locator } from "../../locator.ts";
import type { Queryable } from "../connection/database.ts";
import { ALLOWED_CHUNKS, filterValues, isFiltered } from "./search-filter.ts";
import type { SearchFilter } from "./search-filter.ts";

/** A chunk with what proves where it is from. Offsets in code points, lines from 1 and inclusive. */
export type StoredPassage = {
  readonly chunkKey: string;
  readonly source: string;
  readonly path: string;
  /** Of the bytes of the document's file when it was indexed. */
  readonly sha256: string;
  /** Version of the extractor that made the document's text. */
  readonly extractor: string;
  readonly docChars: number;
  /** Whether its document holds more text than this; blanks and line breaks at its ends are none. */
  readonly truncated: boolean;
  readonly headingPath: string | null;
  readonly locator: Locator | null;
  readonly title: string | null;
  readonly startChar: number;
  readonly endChar: number;
  readonly lineStart: number;
  readonly lineEnd: number;
  readonly text: string;
};

const passageRows = z.array(
  z.object({
    chunk_id: z.string(),
    chunk_key: z.string(),
    source: z.string(),
    path: z.string(),
    sha256: z.string(),
    extractor: z.string(),
    chars: z.int(),
    truncated: z.boolean(),
    heading_path: z.string().nullable(),
    locator: locatorSchema.nullable(),
    title: z.string().nullable(),
    start_char: z.int(),
    end_char: z.int(),
    line_start: z.int(),
    line_end: z.int(),
    text: z.string(),
  }),
);

/** Chunks by their id. One that is gone since it was found is not among them. */
export async function loadPassages(
  db: Queryable,
  chunkIds: readonly string[],
): Promise<Map<string, StoredPassage>> {
  const { rows } = await db.query(
    `select c.chunk_id::text, c.chunk_key, d.source, d.path, d.sha256, d.extractor, d.chars, c.heading_path, c.locator, d.title,
            -- Frontmatter that was read stands before the chunks.
            d.metadata_state = 'present' or exists (select from nightdesk_data.chunks other
              where other.doc_id = c.doc_id and other.chunk_id <> c.chunk_id) as truncated,
            c.start_char, c.end_char, c.line_start, c.line_end, c.text
       from nightdesk_data.chunks c join nightdesk_data.documents d using (doc_id)
      where c.chunk_id = any ($1::bigint[])`,
    [chunkIds],
    "load_passages",
  );
  return new Map(passageRows.parse(rows).map((row) => [row.chunk_id, toPassage(row)]));
}

const toPassage = (row: z.infer<typeof passageRows>[number]): StoredPassage => ({
  chunkKey: row.chunk_key,
  source: row.source,
  path: row.path,
  sha256: row.sha256,
  extractor: row.extractor,
  docChars: row.chars,
  truncated: row.truncated,
  headingPath: row.heading_path,
  locator: row.locator,
  title: row.title,
  startChar: row.start_char,
  endChar: row.end_char,
  lineStart: row.line_start,
  lineEnd: row.line_end,
  text: row.text,
});

const anyRows = z.tuple([z.object({ passing: z.int() })]);

/** Whether any chunk is in a document that a filter lets through, whatever the words of the question are. */
export async function anyChunkPasses(db: Queryable, filter: SearchFilter): Promise<boolean> {
  const documents = { ...filter, phrases: [], excluded: [] };
  if (!isFiltered(documents)) return true;
  const { rows } = await db.query(ANY, [1, ...filterValues(documents)]);
  return anyRows.parse(rows)[0].passing > 0;
}

const ANY = `
  with ${ALLOWED_CHUNKS}
  select count(*)::integer as passing from (select from allowed limit $1::bigint) passed`;
