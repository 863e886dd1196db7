import { termLanguageSql, termSql } from "./term.ts";
import { BM25, POSTING } from "./text-search.ts";

export const K1 = BM25.k1.toFixed(2);

/** So many words that begin with a prefix are looked for. */
const MOST_OF_PREFIX = 64;

/** Part of BM25 that a posting has: its word's weight times how much of a word so often in so long a chunk counts. */
const frequency = POSTING.frequency("entry");
export const POSTING_SCORE = `weight * ${frequency} / (${frequency} + base + per_word * ${POSTING.words("entry")})`;

/** SQL of what a question is given by: its text, prefixes in it, and terms that are added with how often each is. */
export type QuestionParts = {
  readonly text: string;
  readonly prefixes: string;
  readonly added: string;
  readonly addedTimes: string;
};

/**
 * The terms of a question and how often each is asked for: of its words in every language of the index. A prefix stands
 * for words as written and as the language spells them: `brü` is `bru` in German.
 */
const askedTerms = ({ text, prefixes, added, addedTimes }: QuestionParts): string => `
  select language, ${termSql("language", "lexeme")} as term, coalesce(cardinality(positions), 1) as times, 0 as added
    from languages cross join lateral unnest(to_tsvector(language::regconfig, ${text}))
   union all
  select language, begun.term, 1, 0
    from languages cross join unnest(${prefixes}::text[]) as given (prefix)
   cross join lateral (
     select ${termSql("language", "prefix")} as first
      union
     select ${termSql("language", "lexeme")}
       from unnest(to_tsvector(language::regconfig, prefix)) where length(lexeme) >= length(prefix)
      limit 2) beginning
   cross join lateral (
     select distinct term from nightdesk_data.postings
      where term >= first collate "C" and term < (first || U&'\\+10FFFF') collate "C"
      order by term limit ${MOST_OF_PREFIX}) begun
   union all
  select ${termLanguageSql("term")}, term, 0, times
    from unnest(${added}::text[], ${addedTimes}::float8[]) as given (term, times)`;

/**
 * `with` items about the terms of a question: `found` with their postings, `languages` that the index holds,
 * and `weights`: what a term counts, in how many live chunks it is, and in how many all rarer ones are together.
 *
 * Document frequencies and numbers of chunks are of this moment, dead ones left out, so that a score does not depend on the
 * edits that led here. A word of the question is counted once, in the chunks of all languages together, and as a stop word
 * of a language in all chunks of it: `de` of a Spanish question tells little, although few English chunks hold it. Word by
 * word, because a text has the same places in every language.
 */
export const lexicalWeights = (question: QuestionParts): string => `
  languages as materialized (
    select language, sum(chunks)::float8 as chunks, sum(sum(chunks)) over ()::float8 as of_all,
           ${K1} * (1 - ${BM25.b})::float8 as base,
           ${K1} * ${BM25.b}::float8 * sum(chunks)::float8 / nullif(sum(terms), 0)::float8 as per_word
      from nightdesk_data.chunk_counts group by language having sum(chunks) > 0),
  places as materialized (
    select language, ${termSql("language", "lexeme")} as term, unnest(positions) as place
      from languages cross join lateral unnest(to_tsvector(language::regconfig, ${question.text}))),
  question as materialized (
    select language, term, max(times) + max(added) as times from (${askedTerms(question)}) asked group by language, term),
  -- Looked up term by term: a join reads all postings as soon as the planner guesses that a question has a hundred terms.
  found as materialized (
    select term, entries
      from question cross join lateral (select entries from nightdesk_data.postings p where p.term = question.term offset 0) held),
  -- Without a dead chunk the join ends before the first posting is unnested.
  dead as materialized (
    select term, count(*) as chunks
      from (select term, unnest(entries) as entry from found) each_entry
      join nightdesk_data.dead_chunks d on d.chunk_id = ${POSTING.chunkId("entry")}
     group by term),
  counted as (
    select language, term, times, coalesce(sum(cardinality(entries)), 0) - coalesce(max(dead.chunks), 0) as live
      from question left join found using (term) left join dead using (term) group by language, term, times),
  by_place as (
    select place, sum(coalesce(live, l.chunks)) as chunks
      from (select distinct place from places) each_place cross join languages l
      left join places using (place, language) left join counted using (language, term)
     group by place),
  in_all as materialized (
    select language, term, min(chunks)::float8 as chunks from places join by_place using (place) group by language, term),
  weights as materialized (
    select language, term, live, sum(live) over (order by live, term) - live as rarer,
           times * ln(1 + (of_all - spread + 0.5) / (spread + 0.5)) * (${K1} + 1)::float8 as weight,
           base, per_word
      from (select language, term, times, live, coalesce(in_all.chunks, live)::float8 as spread
              from counted left join in_all using (language, term)) counted_in_all
      join languages l using (language))`;
