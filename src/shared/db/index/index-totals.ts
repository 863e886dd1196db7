import { z } from "zod";
import type { Queryable } from "../database.ts";

export type IndexTotals = { readonly documents: number; readonly chunks: number };

const rowSchema = z.object({ documents: z.int(), chunks: z.int() });

/** How many documents and chunks the whole index holds. */
export async function countIndex(db: Queryable): Promise<IndexTotals> {
  const { rows } = await db.query(
    `select (select count(*) from nightdesk_data.documents)::integer as documents,
            (select coalesce(sum(chunks), 0) from nightdesk_data.chunk_counts)::integer as chunks`,
  );
  return rowSchema.parse(rows[0]);
}
