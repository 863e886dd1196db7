import type { Database } from "../src/shared/store/connection/database.ts";
import type { Ranking } from "./judge.ts";
import type { Query } from "./judged-collection.ts";

const ANY_WORD = `(select string_agg(quote_literal(lexeme), ' | ')::tsquery as wanted
                     from unnest(to_tsvector('english', $1)))`;
const ALL_WORDS = "(select websearch_to_tsquery('english', $1) as wanted)";

const byRank = (question: string, rank: string): string => `
  select path from public.baseline, ${question} question
   where words @@ wanted
   order by ${rank}(words, wanted) desc, path
   limit $2`;

/** BM25 with k1 0.9 and b 0.4 over the lexemes of each text, as a table of postings gives it. */
const BM25 = `
  with wanted as (
    select lexeme as term, array_length(positions, 1) as times from unnest(to_tsvector('english', $1)))
  select path
    from wanted
    join public.baseline_words using (term)
    join public.baseline_terms using (term),
         public.baseline_totals
   group by path
   order by sum(times * ln(1 + (texts - n + 0.5) / (n + 0.5)) * tf * 1.9
                / (tf + 0.9 * (0.6 + 0.4 * length / mean_length))) desc, path
   limit $2`;

/** Rankings that Postgres gives without Nightdesk, on the same passages. */
export const BASELINES = [
  { name: "baseline, all words + ts_rank_cd", statement: byRank(ALL_WORDS, "ts_rank_cd") },
  { name: "baseline, any word + ts_rank_cd", statement: byRank(ANY_WORD, "ts_rank_cd") },
  { name: "baseline, any word + ts_rank", statement: byRank(ANY_WORD, "ts_rank") },
  { name: "baseline, SQL BM25 (0.9, 0.4)", statement: BM25 },
] as const;

/** Makes what the baselines read, hands it to `run`, and takes it away. */
export async function withBaselines(db: Database, run: () => Promise<void>): Promise<void> {
  for (const statement of MAKE) await db.query(statement);
  await run();
  await db.query("drop materialized view public.baseline cascade");
}

const MAKE = [
  `create materialized view public.baseline as
   select path, to_tsvector('english', text) as words from nightdesk.chunks`,
  "create index on public.baseline using gin (words)",
  `create materialized view public.baseline_words as
   select path, lexeme as term, array_length(positions, 1) as tf,
          sum(array_length(positions, 1)) over (partition by text_id) as length
     from (select row_number() over () as text_id, * from public.baseline) texts, unnest(words)`,
  "create index on public.baseline_words (term)",
  `create materialized view public.baseline_terms as
   select term, count(*) as n from public.baseline_words group by term`,
  "create index on public.baseline_terms (term)",
  `create materialized view public.baseline_totals as
   select (select count(*) from public.baseline) as texts,
          (select sum(tf)::float8 from public.baseline_words) / (select count(*) from public.baseline) as mean_length`,
  "analyze public.baseline_words",
  "analyze public.baseline_terms",
  "analyze public.baseline_totals",
];

export async function rankByBaseline(
  db: Database,
  statement: string,
  { queries, depth }: { readonly queries: readonly Query[]; readonly depth: number },
): Promise<Ranking[]> {
  const rankings: Ranking[] = [];
  for (const { id, text } of queries) {
    const { rows } = (await db.query(statement, [text, depth])) as unknown as {
      rows: { path: string }[];
    };
    rankings.push({ queryId: id, paths: rows.map(({ path }) => path) });
  }
  return rankings;
}
