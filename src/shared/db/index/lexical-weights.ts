import { BM25, POSTING, TEXT_SEARCH } from "./text-search.ts";

export const K1 = BM25.k1.toFixed(2);

/** So many words that begin with a prefix are looked for. */
const MOST_OF_PREFIX = 64;

/** Part of BM25 that a posting has: its word's weight times how much of a word so often in so long a chunk counts. */
const frequency = POSTING.frequency("entry");
export const POSTING_SCORE = `weight * ${frequency} / (${frequency} + base + per_word * ${POSTING.words("entry")})`;

/**
 * `with` items about the words of a question, given its text and the prefixes in it: `found` with their postings,
 * `totals` of the index, and `weights`: what a word counts, in how many live chunks it is, and in how many all rarer
 * words of the question are together.
 *
 * Document frequencies, the number of chunks and their mean length are of the whole index at this moment, dead
 * chunks left out, so that a score does not depend on the edits that led here.
 */
export const lexicalWeights = (text: string, prefixes: string): string => `
  question as materialized (
    select term, max(times) as times
      from (select lexeme as term, coalesce(cardinality(positions), 1) as times
              from unnest(to_tsvector('${TEXT_SEARCH}', ${text}))
             union all
            select begun.term, 1
              from unnest(${prefixes}::text[]) as given (prefix)
             cross join lateral (
               select distinct term from nightdesk_data.postings
                where term >= prefix collate "C" and term < (prefix || U&'\\+10FFFF') collate "C"
                order by term limit ${MOST_OF_PREFIX}) begun) asked
     group by term),
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
    select term, times, coalesce(sum(cardinality(entries)), 0) - coalesce(max(dead.chunks), 0) as live
      from question left join found using (term, times) left join dead using (term) group by term, times),
  weights as materialized (
    select term, live, sum(live) over (order by live, term) - live as rarer,
           times * ln(1 + (t.chunks - live + 0.5) / (live + 0.5)) * (${K1} + 1)::float8 as weight
      from counted, totals t)`;
