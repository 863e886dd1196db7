import { z } from "zod";
import type { Queryable } from "../database.ts";

export type IndexTotals = {
  readonly documents: number;
  /** Documents of sources that are not configured any more. */
  readonly foreign: number;
  readonly chunks: number;
  /** Documents whose frontmatter can't be read. */
  readonly unreadFrontmatter: number;
};

const rowSchema = z
  .object({
    documents: z.int(),
    foreign: z.int(),
    chunks: z.int(),
    unread_frontmatter: z.int(),
  })
  .transform(({ unread_frontmatter: unreadFrontmatter, ...counts }) => ({
    ...counts,
    unreadFrontmatter,
  }));

/**
 * How many documents and chunks the whole index holds.
 * @param sources the names of the configured sources
 */
export async function countIndex(db: Queryable, sources: readonly string[]): Promise<IndexTotals> {
  const { rows } = await db.query(
    `select (select count(*) from nightdesk_data.documents)::integer as documents,
            (select count(*) from nightdesk_data.documents where source <> all ($1::text[]))::integer as foreign,
            (select count(*) from nightdesk_data.documents where metadata_state = 'unknown')::integer as unread_frontmatter,
            (select coalesce(sum(chunks), 0) from nightdesk_data.chunk_counts)::integer as chunks`,
    [sources],
  );
  return rowSchema.parse(rows[0]);
}

const foreignSchema = z.array(z.object({ source: z.string(), documents: z.int() }));

/** Sources that documents were indexed from and that are not among the given names, in order of name. */
export async function countForeignDocuments(
  db: Queryable,
  sources: readonly string[],
): Promise<readonly { readonly source: string; readonly documents: number }[]> {
  const { rows } = await db.query(
    `select source, count(*)::integer as documents from nightdesk_data.documents
      where source <> all ($1::text[]) group by source order by source`,
    [sources],
  );
  return foreignSchema.parse(rows);
}
