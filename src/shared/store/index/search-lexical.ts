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

/** So many words that begin with a prefix are looked for. */
const MOST_OF_PREFIX = 64;

/** Part of BM25 that a posting has: its word's weight times how much of a word so often in so long a chunk counts. */
const frequency = POSTING.frequency("entry");
export const POSTING_SCORE = `weight * ${frequency} / (${frequency} + base + per_word * ${POSTING.words("entry")})`;

/** SQL of what a question is given by: its text, prefixes in it, and terms that are added with how often each is. */
type QuestionParts = {
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
 * and `weights`: what a term counts in a score, and of the question, in how many live chunks it is, and in how many all rarer ones are together.
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
  /** What is looked for beside them. */
  readonly added?: readonly WeighedTerm[] | undefined;
};

/** A term as the index knows it, and how often it is asked for, whole or not. */
export type WeighedTerm = { readonly term: string; readonly times: number };

/** How much a search reads, whatever the size of the index. */
type SearchBounds = {
  /** The rarest words are scored until they have so many together; every chunk with one of them is a candidate. */
  readonly scored: number;
  /** Commoner words count in the best candidates only, until all have so many; still commoner ones not at all. */
  readonly read: number;
  /** So many chunks that pass a filter are listed before postings are read; where more pass, so many that words find are asked. */
  readonly listed: number;
};

/** 100,000 chunks are searched in less time than their vectors are compared; see bench/query.ts. */
const BOUNDS: SearchBounds = { scored: 10_000, read: 100_000, listed: 20_000 };

/**
 * The best chunks by BM25 over the words of a question, best first; ties by chunk key.
 *
 * Words are taken from the rarest to the commonest. Beyond a number of postings they make no more candidates and
 * count in those that there are: strategy "continue" of Moffat and Zobel, "Self-indexing inverted files for fast text
 * retrieval" (TOIS 1996). Behind a filter, which makes few candidates, more words do.
 */
export async function searchLexical(
  db: Queryable,
  question: LexicalQuestion,
  filter: SearchFilter,
  bounds: SearchBounds = BOUNDS,
): Promise<LexicalHit[]> {
  const values = searchValues(question, filter, bounds);
  // Planned once a connection. What a filter passes is another share each time, and planned for it.
  return isFiltered(filter)
    ? rowsOf(db, lexicalHitSchema, values)`${SEARCH_ALLOWED}`
    : rowsOf(db, lexicalHitSchema, values, "search_lexical")`${SEARCH_ALL}`;
}

/** The parameters of both statements. */
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

/** Candidates that the commoner words are counted in. */
const LEAST_CANDIDATES = 1_000;
const CANDIDATES_PER_HIT = 4;

/** Sums of doubles depend on their order, and the order on the segments: what they can differ by is rounded off. */
const DECIMALS = "1e9";
const chunkId = POSTING.chunkId("entry");
/** Looked up in a hash whatever the planner guesses; an anti join may compare every pair. */
const IS_LIVE = "chunk_id not in (select chunk_id from nightdesk_data.dead_chunks)";
/** Of `entry`, the same: inside of `is true` no join is made of it, for which the planner takes each list for one row. */
const isAmong = (list: "allowed" | "candidates"): string =>
  `(${chunkId} in (select chunk_id from ${list})) is true`;

type Parts = {
  /** `with` items that `condition` and `candidates` need. */
  readonly allowed: string;
  /** Of `entry`, before it is counted. */
  readonly condition: string;
  /** Of the postings, those that pass the filter: what they are multiplied by. */
  readonly passing: string;
  /** `with` items up to the candidates, of what was begun, so many that `most` stands for. */
  readonly candidates: (most: string) => string;
  /** Numbers of the parameters from the limit on. */
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

/** The best of what was begun, and those that are as good as the last of them. */
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
/** Asked of one chunk: with `offset 0` no hash is made of all that pass. */
const PASSES = `exists (select ${PASSING_CHUNKS} and c.chunk_id = begun.chunk_id offset 0)`;

/**
 * Of few chunks that pass, those that were begun are among them. Of many, what was begun is asked one by one, best first,
 * and what is as good as the last that is taken; where too few of as many as could be listed pass, all that pass are listed.
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
