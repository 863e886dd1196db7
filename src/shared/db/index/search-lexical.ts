import type { Queryable } from "../database.ts";
import { ALLOWED_CHUNKS, filterValues, isFiltered, type SearchFilter } from "./search-filter.ts";
import { parseHits, type SearchHit } from "./search-hit.ts";
import { BM25, POSTING, TEXT_SEARCH } from "./text-search.ts";

/**
 * The best chunks by BM25 over the words of a question, best first; ties by chunk key.
 *
 * Document frequencies, the number of chunks and their mean length are of the whole index at this moment, dead
 * chunks left out, so that a score does not depend on the edits that led here.
 */
export async function searchLexical(
  db: Queryable,
  question: string,
  filter: SearchFilter,
): Promise<SearchHit[]> {
  const search = isFiltered(filter) ? SEARCH_ALLOWED : SEARCH_ALL;
  const { rows } = await db.query(search, [question, ...filterValues(filter), filter.limit]);
  return parseHits(rows);
}

/**
 * The rarest words of a question are counted until they have this many postings together; a word so common that it
 * comes after them tells little, and would cost the most.
 */
const POSTINGS_READ = 100_000;

const K1 = BM25.k1.toFixed(2);
const frequency = POSTING.frequency("entry");
/** Sums of doubles depend on their order, and the order on the segments: what they can differ by is rounded off. */
const DECIMALS = "1e9";

/** `not in` is looked up in a hash whatever the planner guesses; an anti join may compare every pair. */
const searchStatement = (parts: {
  readonly allowed: string;
  readonly condition: string;
  readonly limit: string;
}): string => `
  with ${parts.allowed} question as materialized (
    select lexeme as term, coalesce(cardinality(positions), 1) as times
      from unnest(to_tsvector('${TEXT_SEARCH}', $1))),
  found as materialized (
    select term, times, entries from question join nightdesk_data.postings using (term)),
  -- Without a dead chunk the join ends before the first posting is unnested.
  dead as materialized (
    select term, count(*) as chunks
      from (select term, unnest(entries) as entry from found) each_entry
      join nightdesk_data.dead_chunks d on d.chunk_id = ${POSTING.chunkId("entry")}
     group by term),
  totals as materialized (
    select sum(chunks)::float8 as chunks,
           ${K1} * (1 - ${BM25.b})::float8 as base,
           ${K1} * ${BM25.b}::float8 * sum(chunks)::float8 / nullif(sum(terms), 0)::float8 as per_word
      from nightdesk_data.chunk_counts),
  counted as (
    select term, times, sum(cardinality(entries)) - coalesce(max(dead.chunks), 0) as live
      from found left join dead using (term) group by term, times),
  weights as materialized (
    select term, times * ln(1 + (t.chunks - live + 0.5) / (live + 0.5)) * (${K1} + 1)::float8 as weight
      from (select *, sum(live) over (order by live, term) - live as rarer from counted) ranked, totals t
     where live > 0 and rarer < ${POSTINGS_READ}),
  scored as (
    select ${POSTING.chunkId("entry")} as chunk_id,
           round(sum(weight * ${frequency} / (${frequency} + base + per_word * ${POSTING.words("entry")}))
             * ${DECIMALS}) / ${DECIMALS} as score
      from (select weight, unnest(entries) as entry from weights join found using (term)) each_entry, totals
     group by 1),
  best as (
    select s.chunk_id, s.score
      from scored s
     where s.chunk_id not in (select chunk_id from nightdesk_data.dead_chunks)
       and ${parts.condition}
     order by s.score desc
     fetch first ${parts.limit} rows with ties)
  select chunk_id::text, doc_id::text, chunk_key, ordinal, score
    from best join nightdesk_data.chunks using (chunk_id)
   order by score desc, chunk_key
   limit ${parts.limit}`;

const SEARCH_ALL = searchStatement({ allowed: "", condition: "true", limit: "$2" });
const SEARCH_ALLOWED = searchStatement({
  allowed: `${ALLOWED_CHUNKS},`,
  condition: "s.chunk_id in (select chunk_id from allowed)",
  limit: "$4",
});
