import { z } from "zod";
import type { Queryable } from "./database.ts";

const failureSchema = z.object({
  path: z.string(),
  error_code: z.string(),
  error_message: z.string(),
});
export type DocumentFailure = z.infer<typeof failureSchema>;

/** Files that could not be indexed: the newest first, and how many there are. */
export async function selectDocumentFailures(
  db: Queryable,
  limit: number,
): Promise<{ readonly total: number; readonly first: readonly DocumentFailure[] }> {
  const { rows } = await db.query(
    `select path, error_code, error_message, count(*) over () as total
       from nightdesk.failures where origin = 'document' order by at desc, path limit $1`,
    [limit],
  );
  const first = z.array(failureSchema.extend({ total: z.coerce.number() })).parse(rows);
  return { total: first[0]?.total ?? 0, first };
}
