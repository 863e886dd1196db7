import type { Database } from "../src/shared/db/database.ts";
import type { Ranking } from "./judge.ts";
import type { Query } from "./judged-collection.ts";

/** The baseline: any word of the query, ranked by Postgres's own ts_rank_cd, on the same chunks. */
export async function rankByTsRank(
  db: Database,
  queries: readonly Query[],
  depth: number,
): Promise<Ranking[]> {
  await db.query(
    `create materialized view public.baseline as
     select path, to_tsvector('english', text) as words from nightdesk.chunks`,
  );
  await db.query("create index on public.baseline using gin (words)");
  const rankings: Ranking[] = [];
  for (const { id, text } of queries) {
    const { rows } = (await db.query(
      `select path from public.baseline,
              (select string_agg(quote_literal(lexeme), ' | ')::tsquery as any_word
                 from unnest(to_tsvector('english', $1))) question
        where words @@ any_word
        order by ts_rank_cd(words, any_word) desc, path
        limit $2`,
      [text, depth],
    )) as unknown as { rows: { path: string }[] };
    rankings.push({ queryId: id, paths: rows.map(({ path }) => path) });
  }
  await db.query("drop materialized view public.baseline");
  return rankings;
}
