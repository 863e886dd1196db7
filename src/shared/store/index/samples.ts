import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { rowsOf } from "../connection/rows.ts";

const samplesSchema = z.object({ path: z.string(), text: z.string() });

/** A passage of the index, to test whether its own words find its document. */
export type Sample = z.infer<typeof samplesSchema>;

/** Longer passages of different documents, spread over the index; the same at each call. */
export const selectSamples = (db: Queryable, most: number): Promise<readonly Sample[]> =>
  rowsOf(db, samplesSchema, [most])`
     select d.path, c.text
       from (select doc_id, path from nightdesk_data.documents where chars > 80
              order by sha256, doc_id limit $1) d
      cross join lateral (
        select text from nightdesk_data.chunks where doc_id = d.doc_id order by length(text) desc, ordinal limit 1) c
      order by d.path`;

/** Most chunks that are joined to the beginning of a document. */
const MOST_CHUNKS_OF_BEGINNING = 8;

/** The first `chars` characters of documents, by path, without documents that are not indexed. */
export async function selectBeginnings(
  db: Queryable,
  paths: readonly string[],
  chars: number,
): Promise<ReadonlyMap<string, string>> {
  const rows = await rowsOf(db, samplesSchema, [paths, chars])`
     select path, left(string_agg(text, E'\\n' order by ordinal), $2) as text
       from (select d.path, c.ordinal,
                    -- The pieces of a long paragraph overlap.
                    substr(c.text, greatest(1, 1 + max(c.end_char) over before - c.start_char)) as text
               from (select path, min(doc_id) as doc_id from nightdesk_data.documents
                      where path = any ($1::text[]) group by path) d
               join nightdesk_data.chunks c using (doc_id)
              where c.ordinal < ${MOST_CHUNKS_OF_BEGINNING}
             window before as (partition by doc_id order by c.ordinal rows between unbounded preceding and 1 preceding)) pieces
      group by path`;
  return new Map(rows.map(({ path, text }) => [path, text]));
}
