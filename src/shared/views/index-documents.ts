import { z } from "zod";
import type { Queryable } from "../store/connection/database.ts";

const documentsSchema = z.array(
  z.object({
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
    dates: z.array(z.object({ source: z.string(), date: z.string() })),
    indexed_at: z.date(),
  }),
);

/** A document as the index has it. */
export type IndexedDocumentView = z.infer<typeof documentsSchema>[number];

/** The documents at paths, by path. */
export async function selectIndexedDocuments(
  db: Queryable,
  paths: readonly string[],
): Promise<readonly IndexedDocumentView[]> {
  const { rows } = await db.query(
    `select source, path, title, sha256, bytes, chars,
            (select count(*) from nightdesk_data.chunks c where c.doc_id = d.doc_id) as chunks,
            language, extractor, metadata, metadata_problem, dates, indexed_at
       from nightdesk_data.documents d where path = any ($1::text[]) order by path, source`,
    [paths],
  );
  return documentsSchema.parse(rows);
}
