import { z } from "zod";
import type { Queryable } from "../database.ts";
import { isFiltered, type SearchFilter } from "./search-filter.ts";
import {
  ALL,
  ALLOWED,
  type LexicalQuestion,
  searchItems,
  searchValues,
  type WeighedTerm,
} from "./search-lexical.ts";
import { termSql } from "./term.ts";
import { POSTING } from "./text-search.ts";

/** The constants of Anserini's published runs (castorini/anserini, RM3: MAP 0.3648 on CACM). */
const RM3 = { chunks: 10, terms: 10, commonShare: 0.1 } as const;

const rowsSchema = z.array(z.object({ term: z.string(), times: z.number() }));

/**
 * What the chunks that a question finds first add to it, by RM3 (Abdul-Jaleel et al., "UMass at TREC
 * 2004: Novelty and HARD"), as Anserini computes it: each of the 10 best chunks is its 10 most frequent terms of 2 to 20
 * letters and digits that at most a tenth of the chunks hold, as a distribution; the chunks' mean by their scores is cut
 * to 10 terms, which weigh together as much as the question. What stands in a chunk is parsed from its text again.
 */
export async function expandQuestion(
  db: Queryable,
  question: LexicalQuestion,
  filter: SearchFilter,
): Promise<readonly WeighedTerm[]> {
  const { rows } = await db.query(
    isFiltered(filter) ? EXPAND_ALLOWED : EXPAND_ALL,
    searchValues(question, { ...filter, limit: RM3.chunks }),
  );
  return rowsSchema.parse(rows);
}

const MOST_CHUNKS = `${RM3.commonShare} * l.chunks`;

const expandStatement = (parts: typeof ALL): string => `
  with ${searchItems(parts)},
  best as materialized (
    select chunk_id, score from scored join nightdesk_data.chunks using (chunk_id)
     order by score desc, chunk_key limit $${parts.first}),
  held as materialized (
    select chunk_id, score, c.language, cardinality(positions) as times,
           ${termSql("c.language", "lexeme")} collate "C" as term
      from best join nightdesk_data.chunks c using (chunk_id) join nightdesk_data.documents d using (doc_id)
     cross join lateral unnest(
       to_tsvector(c.language::regconfig, concat_ws(E'\\n', d.title, c.heading_path, c.text)))
     where lexeme ~ '^[[:alnum:]]{2,20}$'),
  spread as materialized (
    select language, term, sum(cardinality(entries)) as chunks
      from (select distinct language, term from held) terms join nightdesk_data.postings using (term)
     group by language, term),
  -- Dead chunks are counted only of the terms that they make the difference for.
  buried as materialized (
    select term, count(*) as chunks
      from (select term, unnest(entries) as entry
              from spread join languages l using (language) join nightdesk_data.postings using (term)
             where spread.chunks > ${MOST_CHUNKS}
               and spread.chunks - (select count(*) from nightdesk_data.dead_chunks) <= ${MOST_CHUNKS}) each_entry
      join nightdesk_data.dead_chunks d on d.chunk_id = ${POSTING.chunkId("entry")}
     group by term),
  telling as (
    select term from spread join languages l using (language) left join buried using (term)
     where spread.chunks - coalesce(buried.chunks, 0) <= ${MOST_CHUNKS}),
  ranked as (
    select chunk_id, score, term, times,
           row_number() over (partition by chunk_id order by times desc, term) as place
      from held join telling using (term)),
  shares as (
    select term, score * times / sum(times) over (partition by chunk_id) as share
      from ranked where place <= ${RM3.terms}),
  model as materialized (
    select term, round(sum(share)::numeric, 9) as weight from shares
     group by term order by weight desc, term limit ${RM3.terms}),
  asked_for as (
    select max(words) as words from (select sum(times) as words from question group by language) each_language)
  select term, ((select words from asked_for) * weight / (select sum(weight) from model))::float8 as times
    from model where weight > 0
   order by times desc, term`;

const EXPAND_ALL = expandStatement(ALL);
const EXPAND_ALLOWED = expandStatement(ALLOWED);
