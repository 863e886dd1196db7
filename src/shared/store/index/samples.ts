import { z } from "zod";
import type { Queryable } from "../connection/database.ts";

const samplesSchema = z.array(z.object({ path: z.string(), text: z.string() }));

/** A passage of the index, for asking whether its own words find its document. */
export type Sample = z.infer<typeof samplesSchema>[number];

/** Passages of some length of different documents, spread over the index, the same each time. */
export async function selectSamples(db: Queryable, most: number): Promise<readonly Sample[]> {
  const { rows } = await db.query(
    `select d.path, c.text
       from (select doc_id, path from nightdesk_data.documents where chars > 80
              order by sha256, doc_id limit $1) d
      cross join lateral (
        select text from nightdesk_data.chunks where doc_id = d.doc_id order by length(text) desc, ordinal limit 1) c
      order by d.path`,
    [most],
  );
  return samplesSchema.parse(rows);
}
