import { z } from "zod";
import type { Queryable } from "../store/connection/database.ts";
import { rowsOf } from "../store/connection/rows.ts";

const count = z.coerce.number();
const sourceSchema = z.object({
  source: z.string(),
  documents: count,
  bytes: count,
  oldest_at: z.date(),
  newest_at: z.date(),
});

/** What the index holds of each source, and when it was indexed. */
export const selectIndexedSources = (db: Queryable): Promise<z.infer<typeof sourceSchema>[]> =>
  rowsOf(db, sourceSchema)`
     select source, count(*) as documents, sum(bytes) as bytes, min(indexed_at) as oldest_at, max(indexed_at) as newest_at
       from nightdesk_data.documents group by 1 order by 1`;

const failureSchema = z.object({
  path: z.string(),
  error_code: z.string(),
  error_message: z.string(),
});

/** Files that could not be indexed, by path. */
export const selectIndexFailures = (
  db: Queryable,
  limit: number,
): Promise<z.infer<typeof failureSchema>[]> =>
  rowsOf(db, failureSchema, [limit])`
     select path, error_code, error_message from nightdesk.failures
      where origin = 'document' and path is not null order by path limit $1`;
