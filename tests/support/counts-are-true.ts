import type { Queryable } from "../../src/shared/store/connection/database.ts";

/** The counts that triggers keep are those of the rows, no dead chunk lives, and every posting has its segment. */
export async function countsAreTrue(db: Queryable): Promise<unknown> {
  const { rows } = await db.query(
    `select (select (count(*)::numeric, sum(terms)::numeric) from nightdesk_data.chunks)
              = (select (sum(chunks), sum(terms)) from nightdesk_data.chunk_counts)
        and not exists (select from nightdesk_data.dead_chunks join nightdesk_data.chunks using (chunk_id))
        and not exists (select from nightdesk_data.postings left join nightdesk_data.segments s using (segment_id)
                         where s.segment_id is null) as is_true`,
  );
  return (rows[0] as { is_true: unknown }).is_true;
}
