import type { Queryable } from "../database.ts";
import { vectorText } from "../vector.ts";
import { ALLOWED_CHUNKS, filterValues, isFiltered, type SearchFilter } from "./search-filter.ts";
import { parseHits, type SearchHit } from "./search-hit.ts";

/** The vector of a question, of unit length, and whose it is: those of another signature are not compared. */
export type QuestionVector = { readonly signature: string; readonly vector: Float32Array };

/**
 * The nearest chunks by cosine similarity, nearest first; ties by chunk key. What is not near at all, at a right
 * angle or beyond, is left out. An exact scan: right with every filter.
 */
export async function searchVectors(
  db: Queryable,
  { signature, vector }: QuestionVector,
  filter: SearchFilter,
): Promise<SearchHit[]> {
  const { limit } = filter;
  const values = [vectorText(vector), ...filterValues(filter), signature];
  const statements = isFiltered(filter) ? SEARCH_ALLOWED : SEARCH_ALL;
  // One more than asked for shows whether a tie runs across the limit.
  const { rows } = await db.query(statements.nearest, [...values, limit + 1]);
  const hits = parseHits(rows);
  if (hits.length <= limit || hits[limit]?.score !== hits[limit - 1]?.score) {
    return hits.slice(0, limit);
  }
  const ties = await db.query(statements.nearestWithTies, [...values, limit]);
  return parseHits(ties.rows).slice(0, limit);
}

/**
 * The inner product of vectors of unit length is their cosine, at two thirds of the price. `with ties` sorts every
 * distance, where a plain limit keeps the least ones only.
 */
const searchStatement = (
  { allowed, from, signature }: Parts,
  rows: "only" | "with ties",
): string => `
  with ${allowed} nearest as materialized (
    select chunk_id, embedding <#> $1::vector as distance
      from ${from}
     where signature = $${signature}
     order by distance
     fetch first $${signature + 1} rows ${rows})
  select chunk_id::text, doc_id::text, chunk_key, ordinal, least(-distance, 1) as score
    from nearest join nightdesk_data.chunks using (chunk_id)
   where distance < 0
   order by score desc, chunk_key`;

/** `signature` is the number of its parameter; that of the limit follows. */
type Parts = { readonly allowed: string; readonly from: string; readonly signature: number };

const statementsOf = (parts: Parts) => ({
  nearest: searchStatement(parts, "only"),
  nearestWithTies: searchStatement(parts, "with ties"),
});

const SEARCH_ALL = statementsOf({ allowed: "", from: "nightdesk_data.embeddings", signature: 2 });
const SEARCH_ALLOWED = statementsOf({
  allowed: `${ALLOWED_CHUNKS},`,
  from: "allowed join nightdesk_data.embeddings using (chunk_id)",
  signature: 4,
});
