import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { rowsOf } from "../connection/rows.ts";
import type { SearchHit } from "./search-filter.ts";
import { lexicalWeights, POSTING_SCORE, questionValues } from "./search-lexical.ts";
import type { LexicalQuestion, WeighedTerm } from "./search-lexical.ts";
import { foldedSql, lexemeOf, POSTING, termLanguageSql, termSql } from "./terms.ts";

/**
 * Tuned on CACM, MED and CISI together. Anserini's published runs (castorini/anserini) use 10 terms with the weight of the whole
 * question: no better there, and twice as harmful when the first chunks are wrong.
 */
const RM3 = { chunks: 10, terms: 20, commonShare: 0.1, weight: 0.5 } as const;

const addedRows = z.object({ term: z.string(), times: z.number() });

/**
 * Terms to add to a question, from the chunks that it finds first, by RM3 (Abdul-Jaleel et al., "UMass at TREC 2004: Novelty and
 * HARD"), as Anserini computes it. Each of the 10 best chunks is a distribution over its 20 most frequent terms, of 2 to 20
 * letters and digits, that at most a tenth of all chunks have. The mean of the distributions, weighted by the chunks' scores, is
 * cut to 20 terms, which together weigh half as much as the question. The terms of a chunk are parsed again from its text.
 * @param found by the words of the question, best first
 */
export async function expandQuestion(
  db: Queryable,
  question: LexicalQuestion,
  found: readonly SearchHit[],
): Promise<readonly WeighedTerm[]> {
  const best = found.slice(0, RM3.chunks);
  return rowsOf(db, addedRows, [
    ...questionValues(question),
    best.map(({ chunkId }) => chunkId),
    best.map(({ score }) => score),
  ])`${EXPAND}`;
}

const MOST_CHUNKS = `${RM3.commonShare} * l.chunks`;

/** SQL condition: a term is rare. Counts its dead chunks only when they can decide that. */
const IS_RARE = `case
           when spread.chunks <= best.most then true
           when spread.chunks - (select count(*) from nightdesk_data.dead_chunks) > best.most then false
           else spread.chunks - (
             select count(*) from nightdesk_data.postings p cross join lateral unnest(entries) as entry
               join nightdesk_data.dead_chunks d on d.chunk_id = ${POSTING.chunkId("entry")}
              where p.term = frequent.term) <= best.most end`;

const EXPAND = `
  with ${lexicalWeights({ text: "$1", prefixes: "$2", added: "$3", addedTimes: "$4" })},
  best as materialized (
    select chunk_id, score, language, ${MOST_CHUNKS} as most
      from unnest($5::bigint[], $6::float8[]) as found_chunks (chunk_id, score)
      join nightdesk_data.chunks using (chunk_id) join languages l using (language)),
  held as materialized (
    select chunk_id, cardinality(positions) as times, ${termSql("c.language", "lexeme")} collate "C" as term
      from best join nightdesk_data.chunks c using (chunk_id) join nightdesk_data.documents d using (doc_id)
     cross join lateral unnest(
       to_tsvector(c.language::regconfig, ${foldedSql("concat_ws(E'\\n', d.title, c.heading_path, c.text)")}))
     where lexeme ~ '^[[:alnum:]]{2,20}$'),
  -- How common a term is is read for one after the other, until a chunk has its terms: it takes most of the time.
  telling as materialized (
    select chunk_id, score, term, times
      from best cross join lateral (
        select term, times
          from (select term, times from held where held.chunk_id = best.chunk_id order by times desc, term offset 0) frequent
         cross join lateral (
           select sum(p.chunks) as chunks from nightdesk_data.postings p where p.term = frequent.term
           offset 0) spread
         where ${IS_RARE}
         order by times desc, term limit ${RM3.terms}) rare),
  shares as (
    select term, score * times / sum(times) over (partition by chunk_id) as share from telling),
  model as materialized (
    select term, round(sum(share)::numeric, 9) as weight from shares
     group by term order by weight desc, term limit ${RM3.terms}),
  asked_for as (
    select max(words) as words from (select sum(times) as words from question group by language) each_language)
  select term, (${RM3.weight} * (select words from asked_for) * weight / (select sum(weight) from model))::float8 as times
    from model where weight > 0
   order by times desc, term`;

/** A word of a question, with its statistics in the index. */
export type QuestionTerm = {
  readonly term: string;
  readonly language: string;
  /** Live chunks that contain it. */
  readonly chunks: number;
  /** Its count in the question times its idf: its share of the question. */
  readonly weight: number;
  /** Its part of the scores of chunks that contain it, by chunk key. */
  readonly scores: Readonly<Record<string, number>>;
};

const termRows = z.object({
  language: z.string(),
  term: z.string().transform(lexemeOf),
  chunks: z.coerce.number(),
  weight: z.number(),
  scores: z.record(z.string(), z.number()),
});

/** The words of a question, by descending weight, with their parts of the scores of the given chunks. */
export const explainLexical = (
  db: Queryable,
  question: LexicalQuestion,
  chunkKeys: readonly string[],
): Promise<QuestionTerm[]> =>
  rowsOf(db, termRows, [...questionValues(question), chunkKeys])`${EXPLAIN}`;

const EXPLAIN = `
  with ${lexicalWeights({ text: "$1", prefixes: "$2", added: "$3", addedTimes: "$4" })},
  asked_chunks as materialized (
    select chunk_id, chunk_key from nightdesk_data.chunks where chunk_key = any ($5::text[])),
  parts as (
    select term, chunk_key, ${POSTING_SCORE} as score
      from (select term, weight, base, per_word, unnest(entries) as entry from weights join found using (term)) each_entry
      join asked_chunks on chunk_id = ${POSTING.chunkId("entry")})
  select language, term, live as chunks, share as weight,
         coalesce(jsonb_object_agg(chunk_key, score) filter (where chunk_key is not null), '{}') as scores
    from weights left join parts using (term)
   where share is not null
   group by language, term, live, share
   order by share desc, term`;

/** A word that no chunk contains, in one language of the index, with the terms that it may be a misspelling of. */
export type UnknownWord = {
  /** In lower case. */
  readonly word: string;
  /** The lexeme of the word in that language. */
  readonly lexeme: string;
  readonly candidates: readonly string[];
};

const unknownRows = z.object({
  word: z.string(),
  lexeme: z.string(),
  candidates: z.array(z.string()),
});

/** Shorter words are similar to too many terms; longer ones are not words. */
const LETTERS = { least: 4, most: 40 };
const MOST_WORDS = 20;
const MOST_UNKNOWN = 5;
const MOST_CANDIDATES = 5_000;
/** Most difference in length of a candidate, unless one is the beginning of the other. */
const LENGTH_APART = 2;

/**
 * The first few words of a text that no live chunk contains, each with the terms that share its first two letters. Only words of
 * letters: a missing number is no misspelling of another.
 */
export const findUnknownWords = (db: Queryable, text: string): Promise<UnknownWord[]> =>
  rowsOf(db, unknownRows, [text])`${UNKNOWN}`;

/** A scalar query instead of `exists`: for that the planner may read all postings into a hash table. */
const UNKNOWN = `
  with words as materialized (
    select word from (select distinct lower(word) as word
                        from regexp_split_to_table($1, '[^[:alnum:]]+') as word) split
     where word ~ '^[[:alpha:]]{${LETTERS.least},${LETTERS.most}}$' order by word limit ${MOST_WORDS}),
  in_languages as materialized (
    select word, language, lexeme, ${termSql("language", "lexeme")} as term
      from words
     cross join (select language from nightdesk_data.chunk_counts group by language having sum(chunks) > 0) spoken
      left join lateral unnest(to_tsvector(language::regconfig, word)) on true),
  unknown as materialized (
    select word from in_languages
     group by word
    having bool_and(lexeme is not null and (
             select true from nightdesk_data.postings p cross join lateral unnest(p.entries) as entry
              where p.term = in_languages.term
                and ${POSTING.chunkId("entry")} not in (select chunk_id from nightdesk_data.dead_chunks)
              limit 1) is null)
     order by word limit ${MOST_UNKNOWN})
  select word, lexeme, array(
           select distinct p.term from nightdesk_data.postings p
            cross join lateral (select ${termSql("language", "left(lexeme, 2)")} as first) beginning
            cross join lateral (select substr(p.term, length(first) - 1) as candidate) bare
            where p.term >= first collate "C" and p.term < (first || U&'\\+10FFFF') collate "C"
              and (length(candidate) between length(lexeme) - ${LENGTH_APART} and length(lexeme) + ${LENGTH_APART}
                   or starts_with(candidate, lexeme) or starts_with(lexeme, candidate))
            limit ${MOST_CANDIDATES}) as candidates
    from in_languages join unknown using (word)
   order by word, language`;

const spelledSchema = z.object({ term: z.string(), word: z.string().nullable() });

/** For each term a word, as a live chunk spells it, in lower case; the lexeme itself when no word of the chunk has the term. */
export async function spellTerms(
  db: Queryable,
  terms: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await rowsOf(db, spelledSchema, [terms])`${SPELLED}`;
  return new Map(rows.map(({ term, word }) => [term, word ?? lexemeOf(term)]));
}

const SPELLED = `
  select term, (
           select word
             from (select ${POSTING.chunkId("entry")} as chunk_id
                     from nightdesk_data.postings p cross join lateral unnest(p.entries) as entry
                    where p.term = given.term
                      and ${POSTING.chunkId("entry")} not in (select chunk_id from nightdesk_data.dead_chunks)
                    limit 1) holding
             join nightdesk_data.chunks c using (chunk_id) join nightdesk_data.documents d using (doc_id)
            cross join lateral regexp_split_to_table(
              lower(concat_ws(E'\\n', d.title, c.heading_path, c.text)), '[^[:alnum:]]+') as word
            where substring(given.term from '[^ ]+$') = any (
              tsvector_to_array(to_tsvector(${termLanguageSql("given.term")}::regconfig, ${foldedSql("word")})))
            group by word order by count(*) desc, word limit 1) as word
    from unnest($1::text[]) as given (term)`;
