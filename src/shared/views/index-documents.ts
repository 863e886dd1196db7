import { z } from "zod";
import type { Queryable } from "../store/connection/database.ts";
import { comparedFactsOf, fileOfDocument } from "../store/index/documents.ts";

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
    mail: z.string().nullable(),
    attachments: z.array(z.string()),
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
            language, extractor, metadata, metadata_problem, dates, indexed_at, mail,
            array(select a.path from nightdesk_data.documents a
                   where a.source = d.source and a.mail = d.path order by a.path) as attachments
       from nightdesk_data.documents d where path = any ($1::text[]) order by path, source`,
    [paths],
  );
  return documentsSchema.parse(rows);
}

const textsSchema = z.array(
  z.object({ doc_id: z.string(), path: z.string(), sha256: z.string(), text: z.string() }),
);

/** Characters of a document that it is compared by. */
const MOST_TEXT_CHARS = 200_000;

const TEXT = `coalesce((select left(string_agg(c.text, E'\\n' order by c.ordinal), ${MOST_TEXT_CHARS})
                        from nightdesk_data.chunks c where c.doc_id = page.doc_id), '') as text`;

const factsSchema = z.array(
  z
    .object({
      path: z.string(),
      sha256: z.string(),
      settled: z.boolean(),
      bytes: z.string(),
      mtime_ns: z.string(),
      ctime_ns: z.string(),
      inode: z.string(),
      file: z.string(),
      text: z.string(),
    })
    .transform(({ path, sha256, text, settled, file, ...facts }) => ({
      path,
      text,
      known: { sha256, settled, file, facts: comparedFactsOf(facts) },
    })),
);

/** The texts that the index has of the files at paths, each once, with what tells whether the file is still that one. */
export async function selectTextsAt(
  db: Queryable,
  paths: readonly string[],
): Promise<z.infer<typeof factsSchema>> {
  const { rows } = await db.query(
    `with page as materialized (
       select distinct on (path) * from nightdesk_data.documents
        where path = any ($1::text[]) order by path, scanned_at desc)
     select path, sha256, settled, ${fileOfDocument("page")}, mtime_ns::text, ctime_ns::text, inode::text, ${TEXT}
       from page order by path`,
    [paths],
  );
  return factsSchema.parse(rows);
}

/**
 * The texts of indexed documents, a page of them.
 * @param after `doc_id` of the last one of the page before, or "0"
 */
export async function selectDocumentTexts(
  db: Queryable,
  source: string | null,
  after: string,
  limit: number,
): Promise<z.infer<typeof textsSchema>> {
  const { rows } = await db.query(
    `with page as materialized (
       select doc_id, path, sha256 from nightdesk_data.documents
        where doc_id > $1::bigint and ($2::text is null or source = $2) order by doc_id limit $3)
     select doc_id::text, path, sha256, ${TEXT}
       from page order by doc_id`,
    [after, source, limit],
  );
  return textsSchema.parse(rows);
}
