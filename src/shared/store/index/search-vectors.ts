import { z } from "zod";
import { Failure } from "../../failure.ts";
import type { Queryable } from "../connection/database.ts";
import { oneRowOf, rowsOf, valueOf } from "../connection/rows.ts";
import {
  ALLOWED_CHUNKS,
  FILTER_ITEMS,
  filterValues,
  isFiltered,
  hitSchema,
  PASSING_CHUNKS,
} from "./search-filter.ts";
import type { SearchFilter, SearchHit } from "./search-filter.ts";
import {
  findVectorIndex,
  indexedType,
  indexedVector,
  selectVectorSchema,
  storedVector,
  vectorText,
} from "./vector-index.ts";
import type { VectorIndexFacts, VectorPrecision } from "./vector-index.ts";

/** The vector of a question, of unit length, and its signature: only vectors of the same signature are compared. */
type QuestionVector = {
  readonly signature: string;
  readonly precision: VectorPrecision;
  readonly vector: Float32Array;
};

/**
 * Comparing this many chunks takes less than a tenth of a second. When a tenth of the rows pass a filter, the index takes as long
 * and finds 8 of the 10 nearest.
 */
const COMPARED_ONE_BY_ONE = 20_000;

/**
 * The nearest chunks by cosine similarity, nearest first; ties by chunk key. Excludes chunks with a similarity of 0 or less. Uses
 * the HNSW index of the signature if there is one, else an exact scan.
 * @param mostCompared if a filter passes at most this many chunks, an exact scan is used even if there is an index
 * @throws Failure EMBED_DRIFT when all stored vectors have other signatures
 */
export async function searchVectors(
  db: Queryable,
  question: QuestionVector,
  filter: SearchFilter,
  mostCompared: number = COMPARED_ONE_BY_ONE,
): Promise<SearchHit[]> {
  const index = await findVectorIndex(db, question.signature);
  const schema = await selectVectorSchema(db);
  const usesIndex = index !== undefined && (await fitsIndex(db, filter, index, mostCompared));
  const nearest = usesIndex ? await searchIndex(db, question, filter, { ...index, schema }) : [];
  // An index scan stops after some thousand rows that do not pass, although more chunks may pass: then scan exactly.
  const isEnough = nearest.length >= filter.limit;
  const hits = isEnough ? nearest : await searchExactly(db, question, filter, schema);
  if (hits.length === 0) await refuseDrift(db, question.signature);
  return hits;
}

async function searchExactly(
  db: Queryable,
  { signature, precision, vector }: QuestionVector,
  filter: SearchFilter,
  schema: string,
): Promise<SearchHit[]> {
  const values = [vectorText(vector), ...filterValues(filter), signature];
  const parts = isFiltered(filter) ? EXACT_ALLOWED : EXACT_ALL;
  return withTies(filter.limit, (rows, limit) => {
    const text = exactStatement(parts, { precision, schema }, rows);
    return rowsOf(db, hitSchema, [...values, limit])`${text}`;
  });
}

type FetchedRows = "only" | "with ties";

/** Fetches one more than the limit, which shows whether a tie crosses it; then fetches all ties. */
async function withTies(
  limit: number,
  fetch: (rows: FetchedRows, limit: number) => Promise<SearchHit[]>,
): Promise<SearchHit[]> {
  const hits = await fetch("only", limit + 1);
  if (hits.length > limit && hits[limit]?.score === hits[limit - 1]?.score) {
    return (await fetch("with ties", limit)).slice(0, limit);
  }
  return hits.slice(0, limit);
}

/** SQL: the hits of the `with` item `nearest`. */
const HITS = `
  select chunk_id::text, doc_id::text, chunk_key, ordinal, least(-distance, 1) as score
    from nearest join nightdesk_data.chunks using (chunk_id)
   where distance < 0
   order by score desc, chunk_key`;

/**
 * Uses the inner product, which equals the cosine for unit vectors and takes two thirds of the time. `with ties` sorts all
 * distances, while a plain limit keeps only the least ones.
 */
function exactStatement(
  { allowed, from, signature }: Parts,
  { precision, schema }: { readonly precision: VectorPrecision; readonly schema: string },
  rows: FetchedRows,
): string {
  const { column, type } = storedVector(precision, schema);
  return `
  with ${allowed} nearest as materialized (
    select chunk_id, ${column} operator(${schema}.<#>) $1::${type} as distance
      from ${from}
     where signature = $${signature}
     order by distance
     fetch first $${signature + 1} rows ${rows}) ${HITS}`;
}

/** `signature` is the number of its parameter; the limit's parameter follows. */
type Parts = { readonly allowed: string; readonly from: string; readonly signature: number };

const EXACT_ALL: Parts = { allowed: "", from: "nightdesk_data.embeddings", signature: 2 };
const EXACT_ALLOWED: Parts = {
  allowed: `${ALLOWED_CHUNKS},`,
  from: "allowed join nightdesk_data.embeddings using (chunk_id)",
  signature: 4,
};

async function fitsIndex(
  db: Queryable,
  filter: SearchFilter,
  { iterates }: VectorIndexFacts,
  mostCompared: number,
): Promise<boolean> {
  if (!isFiltered(filter)) return true;
  if (!iterates) return false;
  const passing = await valueOf(db, z.int(), [mostCompared + 1, ...filterValues(filter)])`
     with ${FILTER_ITEMS}
     select count(*)::integer as passing from (select ${PASSING_CHUNKS} limit $1) passed`;
  return passing > mostCompared;
}

/** Candidates of the index for each requested hit: fewer are faster, but miss more. */
const CANDIDATES = { unfiltered: 4, filtered: 10 };
const LEAST_EF_SEARCH = 100;
const MOST_EF_SEARCH = 1_000;

async function searchIndex(
  db: Queryable,
  { signature, precision, vector }: QuestionVector,
  filter: SearchFilter,
  { iterates, schema }: VectorIndexFacts & { readonly schema: string },
): Promise<SearchHit[]> {
  const candidates = CANDIDATES[isFiltered(filter) ? "filtered" : "unfiltered"] * filter.limit;
  const efSearch = Math.min(MOST_EF_SEARCH, Math.max(LEAST_EF_SEARCH, candidates));
  const settings = [["hnsw.ef_search", String(efSearch)]];
  if (iterates) settings.push(["hnsw.iterative_scan", "strict_order"]);
  const values = [vectorText(vector), ...filterValues(filter)];
  const scan = { signature, dims: vector.length, precision, schema, settings };
  return withTies(filter.limit, (rows, limit) => {
    const text = indexStatement(scan, filter, rows);
    return rowsOf(db, hitSchema, [...values, limit])`${text}`;
  });
}

type IndexScan = {
  readonly signature: string;
  readonly dims: number;
  readonly precision: VectorPrecision;
  readonly schema: string;
  /** Settings of the server for this statement only, like `set local` but without the round trips of a transaction. */
  readonly settings: readonly (readonly string[])[];
};

/**
 * The scan reads the question from `prepared`, so the settings apply before it begins. The signature is in the text, so that the
 * planner sees that the partial index fits.
 */
function indexStatement(
  { signature, schema, settings, ...numbers }: IndexScan,
  filter: SearchFilter,
  rows: FetchedRows,
): string {
  const made = settings.map(([name, value]) => `set_config('${name}', '${value}', true)`);
  const distance = `e.${indexedVector(numbers, schema)} operator(${schema}.<#>) prepared.question`;
  return `
  with ${isFiltered(filter) ? `${FILTER_ITEMS},` : ""}
  prepared as materialized (select $1::${indexedType(numbers, schema)} as question, ${made.join(", ")}),
  nearest as materialized (
    select found.* from prepared cross join lateral (
      select e.chunk_id, ${distance} as distance
        from nightdesk_data.embeddings e
       where e.signature = '${signature}' ${isFiltered(filter) ? `and ${PASSES_FILTER}` : ""}
       order by ${distance}
       fetch first $${isFiltered(filter) ? 4 : 2} rows ${rows}) found) ${HITS}`;
}

/** Tested for one row after the other, nearest first. */
const PASSES_FILTER = `exists (select ${PASSING_CHUNKS} and c.chunk_id = e.chunk_id offset 0)`;

const driftSchema = z.object({ other: z.string().nullable(), own: z.boolean() });

/** Throws for a search without hits when vectors are stored but none has the signature: they must be made again. */
async function refuseDrift(db: Queryable, signature: string): Promise<void> {
  // Looks for another model only when no row has the signature.
  const { other, own } = await oneRowOf(db, driftSchema, [signature])`
     select own, case when not own then (select model from nightdesk_data.embeddings limit 1) end as other
       from (select exists (select from nightdesk_data.embeddings where signature = $1) as own offset 0) known`;
  if (own || other === null) return;
  throw new Failure(
    "EMBED_DRIFT",
    `The stored vectors (of "${other}") were made by another model, another build of it, or other settings than ` +
      "embed.* names now, and can't be compared with the question. Run: nightdesk embed",
  );
}
