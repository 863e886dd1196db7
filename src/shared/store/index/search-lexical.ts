import type { Queryable } from "../connection/database.ts";
import { rowsOf } from "../connection/rows.ts";
import {
  FILTER_ITEMS,
  filterValues,
  isFiltered,
  lexicalHitSchema,
  PASSING_CHUNKS,
} from "./search-filter.ts";
import type { LexicalHit, SearchFilter } from "./search-filter.ts";
import { BM25, POSTING, termLanguageSql, termSql } from "./terms.ts";

const K1 = BM25.k1.toFixed(2);

/** Most words of the index that a prefix stands for. */
const MOST_OF_PREFIX = 64;

/** BM25 of one posting: the weight of its word, times its frequency saturated by the length of its chunk. */
const frequency = POSTING.frequency("entry");
export const POSTING_SCORE = `weight * ${frequency} / (${frequency} + base + per_word * ${POSTING.words("entry")})`;

/** SQL of a question's parts: its text, prefixes in it, and added terms with the count of each. */
type QuestionParts = {
  readonly text: string;
  readonly prefixes: string;
  readonly added: string;
  readonly addedTimes: string;
};

/**
 * The terms of a question with their counts: of its words, in every language of the index. A prefix matches words as written and
 * as the language spells them: `brü` is `bru` in German.
 */
const questionTerms = ({ text, prefixes, added, addedTimes }: QuestionParts): string => `
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
 * `with` items about the terms of a question: `found` with their postings; `languages` of the index; and `weights` with, for each
 * term, its weight in a score, its share of the question, the number of its live chunks, and the total of that number over all
 * rarer terms. Document frequencies and numbers of chunks are current and exclude dead chunks, so that a score does not depend on
 * past edits. A word of the question counts once, in the chunks of all languages together; where it is a stop word of a language,
 * it counts in all chunks of that language: `de` of a Spanish question means little, although few English chunks have it.
 * Languages are compared by position, because a word has the same position in every language.
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
    select language, term, max(times) + max(added) as times from (${questionTerms(question)}) asked group by language, term),
  -- Looked up term by term: a join reads all postings as soon as the planner guesses that a question has a hundred terms.
  found as materialized (
    select term, entries, chunks
      from question cross join lateral (select entries, chunks from nightdesk_data.postings p where p.term = question.term offset 0) held),
  -- Without a dead chunk the join ends before the first posting is unnested.
  dead as materialized (
    select term, count(*) as chunks
      from (select term, unnest(entries) as entry from found) each_entry
      join nightdesk_data.dead_chunks d on d.chunk_id = ${POSTING.chunkId("entry")}
     group by term),
  counted as (
    select language, term, times, coalesce(sum(found.chunks), 0) - coalesce(max(dead.chunks), 0) as live
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
           times * idf as share, times * power(idf, ${BM25.rarity}) * (${K1} + 1)::float8 as weight,
           base, per_word
      from (select language, term, times, live, base, per_word,
                   ln(1 + (of_all - spread + 0.5) / (spread + 0.5)) as idf
              from (select language, term, times, live, coalesce(in_all.chunks, live)::float8 as spread
                      from counted left join in_all using (language, term)) counted_in_all
              join languages l using (language)) by_rarity)`;

export type LexicalQuestion = {
  readonly text: string;
  /** Beginnings of words, in lower case: each stands for up to 64 words of the index. */
  readonly prefixes?: readonly string[] | undefined;
  /** Terms that are searched in addition. */
  readonly added?: readonly WeighedTerm[] | undefined;
};

/** A term of the index and its count in the question, which may be a fraction. */
export type WeighedTerm = { readonly term: string; readonly times: number };

/** Limits for the amount that a search reads, for any size of the index. */
type SearchBounds = {
  /** Words are scored from the rarest on, until they have this many postings in all; a chunk with one of them is a candidate. */
  readonly scored: number;
  /** Commoner words count only in the best candidates, until all have this many postings; still commoner words do not count. */
  readonly read: number;
  /** Most chunks passing a filter that are listed first; if more pass, most chunks found by words that are tested one by one. */
  readonly listed: number;
};

/** With these limits a search of 100,000 chunks takes less time than comparing their vectors; see bench/query.ts. */
const BOUNDS: SearchBounds = { scored: 10_000, read: 100_000, listed: 20_000 };

/**
 * The best chunks by BM25 over the words of a question, best first; ties by chunk key.
 *
 * Reads words from the rarest to the commonest. Beyond a number of postings, words add no candidates and only count in the
 * existing ones: strategy "continue" of Moffat and Zobel, "Self-indexing inverted files for fast text retrieval" (TOIS 1996). A
 * filter leaves few candidates, so more words add some.
 */
export async function searchLexical(
  db: Queryable,
  question: LexicalQuestion,
  filter: SearchFilter,
  bounds: SearchBounds = BOUNDS,
): Promise<LexicalHit[]> {
  const values = searchValues(question, filter, bounds);
  // Without a filter, planned once for each connection. Each filter passes another share of chunks, so it is planned each time.
  return isFiltered(filter)
    ? rowsOf(db, lexicalHitSchema, values)`${SEARCH_ALLOWED}`
    : rowsOf(db, lexicalHitSchema, values, "search_lexical")`${SEARCH_ALL}`;
}

function searchValues(
  question: LexicalQuestion,
  filter: SearchFilter,
  bounds: SearchBounds,
): unknown[] {
  const [text, ...parts] = questionValues(question);
  return [
    text,
    ...filterValues(filter),
    filter.limit,
    ...parts,
    Math.max(LEAST_CANDIDATES, CANDIDATES_PER_HIT * filter.limit),
    bounds.scored,
    bounds.read,
    ...(isFiltered(filter) ? [bounds.listed] : []),
  ];
}

/** The values of `QuestionParts`, in their order. */
export const questionValues = ({ text, prefixes = [], added = [] }: LexicalQuestion): unknown[] => [
  text,
  prefixes,
  added.map(({ term }) => term),
  added.map(({ times }) => times),
];

/** Number of candidates in which commoner words count: the larger of these two. */
const LEAST_CANDIDATES = 1_000;
const CANDIDATES_PER_HIT = 4;

/** A sum of doubles depends on their order, which depends on the segments: rounding removes the difference. */
const DECIMALS = "1e9";
const chunkId = POSTING.chunkId("entry");
/** A hash lookup for any estimate of the planner; an anti join may compare every pair. */
const IS_LIVE = "chunk_id not in (select chunk_id from nightdesk_data.dead_chunks)";
/** Whether `entry` is in a list. `is true` keeps the planner from a join, for which it would estimate one row for each list. */
const isAmong = (list: "allowed" | "candidates"): string =>
  `(${chunkId} in (select chunk_id from ${list})) is true`;

type Parts = {
  /** `with` items that `condition` and `candidates` need. */
  readonly allowed: string;
  /** Condition on `entry` before it counts. */
  readonly condition: string;
  /** Estimated share of postings that pass the filter, as a factor. */
  readonly passing: string;
  /** `with` items that select the candidates from `begun`; `most` is SQL for their number. */
  readonly candidates: (most: string) => string;
  /** Number of the limit's parameter; the others follow. */
  readonly first: number;
};

/** `with` items up to `scored`: the candidates, each with its score. */
const searchItems = ({ allowed, condition, passing, candidates, first }: Parts): string => {
  const parameter = (at: number) => `$${first + at}`;
  const [limit, most, scored, read] = [0, 4, 5, 6].map((at) => `${parameter(at)}::bigint`);
  const [prefixes, added, addedTimes] = [parameter(1), parameter(2), parameter(3)];
  return `
  ${allowed} ${lexicalWeights({ text: "$1", prefixes, added, addedTimes })},
  staged as materialized (
    select term, weight, share, base, per_word, rarer * ${passing} < ${scored} as scored
      from weights where live > 0 and rarer < ${read}),
  -- Where all words are scored, nothing is added to a candidate later.
  wanted as materialized (select case when bool_and(scored) then ${limit} else ${most} end as candidates from staged),
  begun as materialized (
    select ${chunkId} as chunk_id, sum(${POSTING_SCORE}) as score, sum(share) as held
      from (select weight, share, base, per_word, unnest(entries) as entry
              from staged join found using (term) where staged.scored) each_entry
     where ${condition}
     group by 1),
  ${candidates("(select candidates from wanted)")},
  added as (
    select ${chunkId} as chunk_id, ${POSTING_SCORE} as score, share as held
      from (select weight, share, base, per_word, unnest(entries) as entry
              from staged join found using (term) where not staged.scored) each_entry
     where ${isAmong("candidates")}),
  scored as materialized (
    select chunk_id, round(sum(score) * ${DECIMALS}) / ${DECIMALS} as score, sum(held) as held
      from (select * from candidates union all select * from added) parts
     group by 1)`;
};

const searchStatement = (parts: Parts): string => {
  const limit = `$${parts.first}`;
  return `
  with ${searchItems(parts)}
  select chunk_id::text, doc_id::text, chunk_key, ordinal, score, coalesce(held / nullif(asked.share, 0), 1) as coverage
    from scored join nightdesk_data.chunks using (chunk_id)
    left join (select language, sum(share) as share from weights group by language) asked using (language)
   where score >= coalesce((select score from scored order by score desc limit 1 offset ${limit}::bigint - 1), 0)
   order by score desc, chunk_key
   limit ${limit}`;
};

/** The best chunks of `begun`, with all ties of the last. */
const BEST_BEGUN = (most: string): string => `
  candidates as materialized (
    select chunk_id, score, held from begun
     where ${IS_LIVE}
       and score >= coalesce((select score from begun where ${IS_LIVE} order by score desc
                              limit 1 offset ${most} - 1), 0))`;

const SEARCH_ALL = searchStatement({
  allowed: "",
  condition: "true",
  passing: "1",
  candidates: BEST_BEGUN,
  first: 2,
});

const LISTED = "$11::bigint";
const IS_LISTED = "(select is_whole from listing)";
/** Tests one chunk: `offset 0` keeps the planner from a hash of all passing chunks. */
const PASSES = `exists (select ${PASSING_CHUNKS} and c.chunk_id = begun.chunk_id offset 0)`;

/**
 * When few chunks pass, the candidates are those of them in `begun`. When many pass, tests the chunks of `begun` one by one, best
 * first, with the ties of the last; when too few of the tested chunks pass, lists all passing chunks.
 */
const BEST_PASSING = (most: string): string => `
  asked as materialized (
    select chunk_id, score from (select chunk_id, score from begun where ${IS_LIVE} order by score desc limit ${LISTED}) begun
     where ${IS_LISTED} or ${PASSES} limit ${most}),
  last_asked as materialized (select min(score) as score, count(*) = ${most} as is_enough from asked),
  every_allowed as materialized (select c.chunk_id ${PASSING_CHUNKS}),
  candidates as materialized (
    select chunk_id, score, held from begun
     where ${IS_LIVE}
       and case when (select is_enough from last_asked)
                then chunk_id in (select chunk_id from asked)
                     or score = (select score from last_asked) and (${IS_LISTED} or ${PASSES})
                else ${IS_LISTED} or chunk_id in (select chunk_id from every_allowed) end)`;

const SEARCH_ALLOWED = searchStatement({
  allowed: `
  ${FILTER_ITEMS},
  allowed as materialized (select c.chunk_id ${PASSING_CHUNKS} limit ${LISTED} + 1),
  listing as materialized (select count(*) as chunks, count(*) <= ${LISTED} as is_whole from allowed),`,
  condition: `case when ${IS_LISTED} then ${isAmong("allowed")} else true end`,
  // Where more pass than are listed it is the least that it can be, so that more words are scored.
  passing: "((select chunks from listing) / (select nullif(sum(chunks), 0) from languages))",
  candidates: BEST_PASSING,
  first: 4,
});
