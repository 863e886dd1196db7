import { z } from "zod";
import type { Queryable } from "../store/connection/database.ts";
import { camelRow, rowsOf } from "../store/connection/rows.ts";

const passageSchema = camelRow({
  path: z.string(),
  heading_path: z.string().nullable(),
  text: z.string(),
});
export type SamplePassage = z.infer<typeof passageSchema>;

/** A repeatable random sample of indexed passages: chunk keys are hashes, so their order is random and stable. */
export const selectSamplePassages = (
  db: Queryable,
  limit: number,
): Promise<readonly SamplePassage[]> =>
  rowsOf(db, passageSchema, [limit])`
     select d.path, c.heading_path, c.text
       from nightdesk_data.chunks c join nightdesk_data.documents d using (doc_id)
      order by c.chunk_key limit $1`;
