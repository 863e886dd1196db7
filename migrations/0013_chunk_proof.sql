-- What a document was cut into, proved beside the document: a chunk that is lost or changed afterwards, or a document
-- that changes without its chunks, no longer fits.
--
-- SHA-256 of lines of ASCII, joined by LF, as hex: the document's sha256, then `ordinal start_char end_char sha256` of each
-- chunk in order of ordinal, decimal, one blank between. src/shared/store/index/totals.ts is the same formula.

-- A row that is written without a proof has one that fits nothing, and doctor finds it.
alter table nightdesk_data.documents
  add column chunks_sha256 text not null default repeat('0', 64) check (chunks_sha256 ~ '^[0-9a-f]{64}$');

update nightdesk_data.documents d
   set chunks_sha256 = encode(sha256(convert_to(concat_ws(E'\n', d.sha256, cut.facts), 'UTF8')), 'hex')
  from nightdesk_data.documents given
  left join (select doc_id,
                    string_agg(ordinal || ' ' || start_char || ' ' || end_char || ' ' || sha256, E'\n' order by ordinal)
                      as facts
               from nightdesk_data.chunks group by doc_id) cut using (doc_id)
 where given.doc_id = d.doc_id;
