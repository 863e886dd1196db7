import type { Queryable } from "../database.ts";
import { lexicalWeights, POSTING_SCORE } from "./lexical-weights.ts";
import { ALLOWED_CHUNKS, filterValues, isFiltered, type SearchFilter } from "./search-filter.ts";
import { parseHits, type SearchHit } from "./search-hit.ts";
import { POSTING } from "./text-search.ts";

export type LexicalQuestion = {
  readonly text: string;
  /** Beginnings of words, in lower case: each stands for up to 64 words of the index. */
  readonly prefixes?: readonly string[] | undefined;
  /** What is looked for beside them. */
  readonly added?: readonly WeighedTerm[] | undefined;
};

/** A term as the index knows it, and how often it is asked for, whole or not. */
export type WeighedTerm = { readonly term: string; readonly times: number };

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
  question: LexicalQuestion,
  filter: SearchFilter,
  bounds: PostingBounds = BOUNDS,
): Promise<SearchHit[]> {
  const search = isFiltered(filter) ? SEARCH_ALLOWED : SEARCH_ALL;
  const { rows } = await db.query(search, searchValues(question, filter, bounds));
  return parseHits(rows);
}

/** The parameters of `searchItems`. */
export function searchValues(
  question: LexicalQuestion,
  filter: SearchFilter,
  bounds: PostingBounds = BOUNDS,
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

type Parts = {
  readonly allowed: string;
  /** Of `entry`, before it is counted. */
  readonly condition: string;
  /** Of the postings, those that pass the filter: what they are multiplied by. */
  readonly passing: string;
  /** Numbers of the parameters from the limit on. */
  readonly first: number;
};

/** `with` items up to `scored`: the candidates, each with its score. */
export const searchItems = ({ allowed, condition, passing, first }: Parts): string => {
  const parameter = (at: number) => `$${first + at}`;
  const [candidates, scored, read] = [4, 5, 6].map(parameter);
  const [prefixes, added, addedTimes] = [parameter(1), parameter(2), parameter(3)];
  return `
  ${allowed} ${lexicalWeights({ text: "$1", prefixes, added, addedTimes })},
  staged as materialized (
    select term, weight, base, per_word, rarer * ${passing} < ${scored}::bigint as scored
      from weights where live > 0 and rarer < ${read}::bigint),
  begun as materialized (
    select ${chunkId} as chunk_id, sum(${POSTING_SCORE}) as score
      from (select weight, base, per_word, unnest(entries) as entry
              from staged join found using (term) where staged.scored) each_entry
     where ${condition}
     group by 1),
  candidates as materialized (
    select chunk_id, score from begun
     where ${IS_LIVE}
       and score >= coalesce((select score from begun where ${IS_LIVE} order by score desc
                              limit 1 offset ${candidates}::bigint - 1), 0)),
  added as (
    select ${chunkId} as chunk_id, ${POSTING_SCORE} as score
      from (select weight, base, per_word, unnest(entries) as entry
              from staged join found using (term) where not staged.scored) each_entry
     where ${chunkId} in (select chunk_id from candidates)),
  scored as materialized (
    select chunk_id, round(sum(score) * ${DECIMALS}) / ${DECIMALS} as score
      from (select * from candidates union all select * from added) parts
     group by 1)`;
};

const searchStatement = (parts: Parts): string => {
  const limit = `$${parts.first}`;
  return `
  with ${searchItems(parts)}
  select chunk_id::text, doc_id::text, chunk_key, ordinal, score
    from scored join nightdesk_data.chunks using (chunk_id)
   where score >= coalesce((select score from scored order by score desc limit 1 offset ${limit}::bigint - 1), 0)
   order by score desc, chunk_key
   limit ${limit}`;
};

export const ALL: Parts = { allowed: "", condition: "true", passing: "1", first: 2 };
export const ALLOWED: Parts = {
  allowed: `${ALLOWED_CHUNKS},`,
  condition: `${chunkId} in (select chunk_id from allowed)`,
  passing: "((select count(*) from allowed) / (select nullif(sum(chunks), 0) from languages))",
  first: 4,
};

const SEARCH_ALL = searchStatement(ALL);
const SEARCH_ALLOWED = searchStatement(ALLOWED);
