import { hash } from "node:crypto";

type CutChunk = { readonly startChar: number; readonly endChar: number; readonly sha256: string };

/**
 * What a document was cut into, as one hash: SHA-256 of lines joined by LF, the first the document's sha256, the others
 * `ordinal start_char end_char sha256` of its chunks in order.
 * @returns 64 hex digits
 */
export function chunkProof(documentSha256: string, chunks: readonly CutChunk[]): string {
  const facts = chunks.map(
    ({ startChar, endChar, sha256 }, ordinal) => `${ordinal} ${startChar} ${endChar} ${sha256}`,
  );
  return hash("sha256", [documentSha256, ...facts].join("\n"), "hex");
}

/** The documents whose chunks are not those that were written with them: the same formula over all rows. */
export const UNPROVED_DOCUMENTS = `
  select d.doc_id
    from nightdesk_data.documents d
    left join (select doc_id,
                      string_agg(ordinal || ' ' || start_char || ' ' || end_char || ' ' || sha256, E'\\n'
                                 order by ordinal) as facts
                 from nightdesk_data.chunks group by doc_id) cut using (doc_id)
   where d.chunks_sha256 <> encode(sha256(convert_to(concat_ws(E'\\n', d.sha256, cut.facts), 'UTF8')), 'hex')`;
