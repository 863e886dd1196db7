import { z } from "zod";
import type { Queryable } from "../database.ts";
import { POSTING } from "./text-search.ts";
import { foldedSql, lexemeOf, termLanguageSql, termSql } from "./term.ts";

/** A word that no language of the index knows, in one of them, and the terms that might be meant. */
export type UnknownWord = {
  /** In lower case. */
  readonly word: string;
  /** What the language makes of the word. */
  readonly lexeme: string;
  readonly candidates: readonly string[];
};

const rowsSchema = z.array(
  z.object({ word: z.string(), lexeme: z.string(), candidates: z.array(z.string()) }),
);

/** Shorter words are near to too many; longer ones are no words. */
const LETTERS = { least: 4, most: 40 };
const MOST_WORDS = 20;
const MOST_UNKNOWN = 5;
const MOST_CANDIDATES = 5_000;
/** How much longer or shorter a candidate may be, unless it begins like the word or the word like it. */
const LENGTH_APART = 2;

/**
 * The first few words of a text that no live chunk holds, each with the terms that share its first two letters. Words of letters
 * alone: a number that is not there is not another one.
 */
export async function findUnknownWords(db: Queryable, text: string): Promise<UnknownWord[]> {
  const { rows } = await db.query(UNKNOWN, [text]);
  return rowsSchema.parse(rows);
}

/** A scalar query, and not `exists`, for which the planner may read all postings into a hash. */
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

const spelledSchema = z.array(z.object({ term: z.string(), word: z.string().nullable() }));

/** A word for each term, as a live chunk spells it in lower case; the bare lexeme where only a name of it holds the term. */
export async function spellTerms(
  db: Queryable,
  terms: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.query(SPELLED, [terms]);
  return new Map(spelledSchema.parse(rows).map(({ term, word }) => [term, word ?? lexemeOf(term)]));
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
