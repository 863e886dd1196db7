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
import { foldedSql, termSql } from "./term.ts";
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

/** Dead chunks are counted only of the terms that they make the difference for. */
const IS_RARE = `case
           when spread.chunks <= best.most then true
           when spread.chunks - (select count(*) from nightdesk_data.dead_chunks) > best.most then false
           else spread.chunks - (
             select count(*) from nightdesk_data.postings p cross join lateral unnest(entries) as entry
               join nightdesk_data.dead_chunks d on d.chunk_id = ${POSTING.chunkId("entry")}
              where p.term = frequent.term) <= best.most end`;

const expandStatement = (parts: typeof ALL): string => `
  with ${searchItems(parts)},
  best as materialized (
    select chunk_id, score, language, ${MOST_CHUNKS} as most
      from scored join nightdesk_data.chunks using (chunk_id) join languages l using (language)
     order by score desc, chunk_key limit $${parts.first}),
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
           select sum(cardinality(entries)) as chunks from nightdesk_data.postings p where p.term = frequent.term
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
  select term, ((select words from asked_for) * weight / (select sum(weight) from model))::float8 as times
    from model where weight > 0
   order by times desc, term`;

const EXPAND_ALL = expandStatement(ALL);
const EXPAND_ALLOWED = expandStatement(ALLOWED);
