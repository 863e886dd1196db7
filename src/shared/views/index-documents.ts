import { z } from "zod";
import { sketchFromHex } from "../files/near-duplicates.ts";
import type { Queryable } from "../store/connection/database.ts";
import { rowsOf } from "../store/connection/rows.ts";
import { comparedFactsOf, factColumns, fileOfDocument } from "../store/index/documents.ts";

const documentsSchema = z.object({
  source: z.string(),
  path: z.string(),
  title: z.string().nullable(),
  sha256: z.string(),
  bytes: z.coerce.number(),
  chars: z.number(),
  chunks: z.coerce.number(),
  language: z.string(),
  extractor: z.string(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  metadata_problem: z.string().nullable(),
  left_out: z.record(z.string(), z.number()),
  dates: z.array(z.object({ source: z.string(), date: z.string() })),
  indexed_at: z.date(),
  mail: z.string().nullable(),
  attachments: z.array(z.string()),
});

/** A document in the index. */
export type IndexedDocumentView = z.infer<typeof documentsSchema>;

export const selectIndexedDocuments = (
  db: Queryable,
  paths: readonly string[],
): Promise<readonly IndexedDocumentView[]> =>
  rowsOf(db, documentsSchema, [paths])`
     select source, path, title, sha256, bytes, chars,
            (select count(*) from nightdesk_data.chunks c where c.doc_id = d.doc_id) as chunks,
            language, extractor, metadata, metadata_problem, left_out, dates, indexed_at, mail,
            array(select a.path from nightdesk_data.documents a
                   where a.source = d.source and a.mail = d.path order by a.path) as attachments
       from nightdesk_data.documents d where path = any ($1::text[]) order by path, source`;

const sketchSchema = z
  .string()
  .nullable()
  .transform((hex) => (hex === null ? null : sketchFromHex(hex)));

const sketchesSchema = z.object({
  doc_id: z.string(),
  path: z.string(),
  sha256: z.string(),
  sketch: sketchSchema,
});

const SKETCH = "encode(sketch, 'hex') as sketch";

const factsSchema = z
  .object({
    path: z.string(),
    sha256: z.string(),
    settled: z.boolean(),
    ...factColumns,
    file: z.string(),
    sketch: sketchSchema,
  })
  .transform(({ path, sha256, sketch, settled, file, ...facts }) => ({
    path,
    sketch,
    known: { sha256, settled, file, facts: comparedFactsOf(facts) },
  }));

/** The stored sketches of the files at these paths, each once, with the facts that tell whether the file has changed since. */
export const selectSketchesAt = (
  db: Queryable,
  paths: readonly string[],
): Promise<z.infer<typeof factsSchema>[]> =>
  rowsOf(db, factsSchema, [paths])`
     with page as materialized (
       select distinct on (path) * from nightdesk_data.documents
        where path = any ($1::text[]) order by path, scanned_at desc)
     select path, sha256, settled, ${fileOfDocument("page")}, mtime_ns::text, ctime_ns::text, inode::text, ${SKETCH}
       from page order by path`;

/**
 * One page of the sketches of indexed documents.
 * @param after `doc_id` of the last row of the previous page, or "0"
 */
export const selectDocumentSketches = (
  db: Queryable,
  source: string | null,
  after: string,
  limit: number,
): Promise<z.infer<typeof sketchesSchema>[]> =>
  rowsOf(db, sketchesSchema, [after, source, limit])`
     select doc_id::text, path, sha256, ${SKETCH} from nightdesk_data.documents d
      where d.doc_id > $1::bigint and ($2::text is null or source = $2) order by d.doc_id limit $3`;
