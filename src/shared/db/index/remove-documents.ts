import type { Queryable } from "../database.ts";
import type { IndexedDocument } from "./document-facts.ts";

/**
 * Removes documents with their chunks and vectors, unless another scan has read them since they were loaded.
 * @returns how many were removed
 */
export async function removeDocuments(
  db: Queryable,
  documents: readonly Pick<IndexedDocument, "docId" | "facts">[],
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from nightdesk_data.documents d
      using unnest($1::bigint[], $2::bigint[]) as gone (doc_id, ctime_ns)
      where d.doc_id = gone.doc_id and d.ctime_ns = gone.ctime_ns`,
    [documents.map(({ docId }) => docId), documents.map(({ facts }) => String(facts.ctimeNs))],
  );
  return rowCount ?? 0;
}

/**
 * Removes the documents and the failures of sources that are not among the given names.
 * @returns how many documents were removed
 */
export async function removeForeignDocuments(
  db: Queryable,
  sources: readonly string[],
): Promise<number> {
  const { rowCount } = await db.query(
    `with failures as (
       delete from nightdesk_data.document_failures where source <> all ($1::text[]))
     delete from nightdesk_data.documents where source <> all ($1::text[])`,
    [sources],
  );
  return rowCount ?? 0;
}
