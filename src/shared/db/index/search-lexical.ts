import type { Queryable } from "../database.ts";
import { lexicalWeights, POSTING_SCORE } from "./lexical-weights.ts";
import { ALLOWED_CHUNKS, filterValues, isFiltered, type SearchFilter } from "./search-filter.ts";
import { parseHits, type SearchHit } from "./search-hit.ts";
import { POSTING } from "./text-search.ts";

export type LexicalQuestion = {
  readonly text: string;
  /** Beginnings of words, in lower case: each stands for up to 64 words of the index. */
  readonly prefixes?: readonly string[] | undefined;
};

/** How many postings a search reads, whatever the size of the index. */
export type PostingBounds = {
  /** The rarest words are scored until they have so many together; every chunk with one of them is a candidate. */
  readonly scored: number;
  /** Commoner words count in the best candidates only, until all have so many; still commoner ones not at all. */
  readonly read: number;
};

/** 100,000 chunks are searched in less time than their vectors are compared; see bench/query.ts. */
const BOUNDS: PostingBounds = { scored: 10_000, read: 100_000 };

/**
 * The best chunks by BM25 over the words of a question, best first; ties by chunk key.
 *
 * Words are taken from the rarest to the commonest. Beyond a number of postings they make no more candidates and
 * count in those that there are: strategy "continue" of Moffat and Zobel, "Self-indexing inverted files for fast text
 * retrieval" (TOIS 1996). Behind a filter, which makes few candidates, more words do.
 */
export async function searchLexical(
  db: Queryable,
  { text, prefixes = [] }: LexicalQuestion,
  filter: SearchFilter,
  bounds: PostingBounds = BOUNDS,
): Promise<SearchHit[]> {
  const search = isFiltered(filter) ? SEARCH_ALLOWED : SEARCH_ALL;
  const { rows } = await db.query(search, [
    text,
    ...filterValues(filter),
    filter.limit,
    prefixes,
    Math.max(LEAST_CANDIDATES, CANDIDATES_PER_HIT * filter.limit),
    bounds.scored,
    bounds.read,
  ]);
  return parseHits(rows);
}

/** Candidates that the commoner words are counted in. */
const LEAST_CANDIDATES = 1_000;
const CANDIDATES_PER_HIT = 4;

/** Sums of doubles depend on their order, and the order on the segments: what they can differ by is rounded off. */
const DECIMALS = "1e9";
const chunkId = POSTING.chunkId("entry");
/** Looked up in a hash whatever the planner guesses; an anti join may compare every pair. */
const IS_LIVE = "chunk_id not in (select chunk_id from nightdesk_data.dead_chunks)";

type Parts = {
  readonly allowed: string;
  /** Of `entry`, before it is counted. */
  readonly condition: string;
  /** Of the postings, those that pass the filter: what they are multiplied by. */
  readonly passing: string;
  /** Numbers of the parameters from the limit on. */
  readonly first: number;
};

const searchStatement = ({ allowed, condition, passing, first }: Parts): string => {
  const [limit, prefixes, candidates, scored, read] = [0, 1, 2, 3, 4].map((at) => `$${first + at}`);
  return `
  with ${allowed} ${lexicalWeights("$1", prefixes ?? "")},
  staged as materialized (
    select term, weight, rarer * ${passing} < ${scored}::bigint as scored
      from weights where live > 0 and rarer < ${read}::bigint),
  begun as materialized (
    select ${chunkId} as chunk_id, sum(${POSTING_SCORE}) as score
      from (select weight, unnest(entries) as entry from staged join found using (term) where staged.scored) each_entry,
           totals
     where ${condition}
     group by 1),
  candidates as materialized (
    select chunk_id, score from begun
     where ${IS_LIVE}
       and score >= coalesce((select score from begun where ${IS_LIVE} order by score desc
                              limit 1 offset ${candidates}::bigint - 1), 0)),
  added as (
    select ${chunkId} as chunk_id, ${POSTING_SCORE} as score
      from (select weight, unnest(entries) as entry from staged join found using (term) where not staged.scored) each_entry,
           totals
     where ${chunkId} in (select chunk_id from candidates)),
  scored as materialized (
    select chunk_id, round(sum(score) * ${DECIMALS}) / ${DECIMALS} as score
      from (select * from candidates union all select * from added) parts
     group by 1)
  select chunk_id::text, doc_id::text, chunk_key, ordinal, score
    from scored join nightdesk_data.chunks using (chunk_id)
   where score >= coalesce((select score from scored order by score desc limit 1 offset ${limit}::bigint - 1), 0)
   order by score desc, chunk_key
   limit ${limit}`;
};

const SEARCH_ALL = searchStatement({ allowed: "", condition: "true", passing: "1", first: 2 });
const SEARCH_ALLOWED = searchStatement({
  allowed: `${ALLOWED_CHUNKS},`,
  condition: `${chunkId} in (select chunk_id from allowed)`,
  passing: "(select count(*) / nullif(chunks, 0) from allowed, totals group by chunks)",
  first: 4,
});
