import pgvector from "pgvector";
import { z } from "zod";
import type { Database, Queryable } from "../connection/database.ts";
import { execute, rowOf, rowsOf, valueOf } from "../connection/rows.ts";
import { tryLock } from "../connection/locks.ts";

// One HNSW index for each signature, over its rows only. A signature fixes model and dimensions, so the cast in the index
// expression never fails, and a scan meets no vectors of other builds that it would have to skip.

const PREFIX = "embeddings_hnsw_";
/** Precision of the stored and indexed numbers of a vector: 4 bytes or 2; the same for all vectors of a signature. */
export type VectorPrecision = "full" | "half";

/** Most dimensions that pgvector can index; longer vectors are compared exactly. */
export const MOST_INDEXED_DIMS = { full: 2_000, half: 4_000 } as const;

/** The vectors of an index. Their values become part of a statement's text, so they are checked. */
type IndexedSpace = IndexedNumbers & { readonly signature: string };

type IndexedNumbers = { readonly dims: number; readonly precision: VectorPrecision };

const TYPES = { full: "vector", half: "halfvec" } as const;
const COLUMNS = { full: "embedding", half: "half_embedding" } as const;

/**
 * The schema of pgvector, quoted. Statements qualify its types, functions and operators with it: the search path of a session may
 * lack it, and behind a pooler it can't be set.
 */
export const selectVectorSchema = (db: Queryable): Promise<string> =>
  valueOf(db, z.string(), [], "vector_schema")`
     select quote_ident(n.nspname) as name
       from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'`;

/** The column of `embeddings` for vectors of a precision, and its type, qualified with the schema of pgvector. */
export const storedVector = (
  precision: VectorPrecision,
  schema: string,
): { readonly column: string; readonly type: string } => ({
  column: COLUMNS[precision],
  type: `${schema}.${TYPES[precision]}`,
});

function indexNameOf(signature: string): string {
  if (!/^[0-9a-f]{32}$/.test(signature)) throw new Error(`no signature: ${signature}`);
  return `${PREFIX}${signature}`;
}

/** The type of an index expression, such as `public.halfvec(384)`. */
export function indexedType({ dims, precision }: IndexedNumbers, schema: string): string {
  if (!Number.isInteger(dims) || dims < 1) throw new Error(`no number of dimensions: ${dims}`);
  return `${schema}.${TYPES[precision]}(${dims})`;
}

/** The index expression. */
export const indexedVector = (numbers: IndexedNumbers, schema: string): string =>
  `${COLUMNS[numbers.precision]}::${indexedType(numbers, schema)}`;

const indexesSchema = z.object({
  signature: z.string(),
  valid: z.boolean(),
  used: z.boolean(),
  building: z.boolean(),
});

/** An index of vectors. `valid`: complete. `used`: it has rows. `building`: a session is building this index or another. */
type VectorIndex = z.infer<typeof indexesSchema>;

export const selectVectorIndexes = (db: Queryable): Promise<readonly VectorIndex[]> =>
  rowsOf(db, indexesSchema)`
     select signature, valid,
            exists (select from nightdesk_data.embeddings e where e.signature = named.signature) as used,
            exists (select from pg_stat_progress_create_index p
                     where p.relid = 'nightdesk_data.embeddings'::regclass) as building
       from (select substr(c.relname, ${PREFIX.length + 1}) as signature, i.indisvalid as valid
               from pg_index i join pg_class c on c.oid = i.indexrelid
              where i.indrelid = 'nightdesk_data.embeddings'::regclass and starts_with(c.relname, '${PREFIX}')) named
      order by signature`;

const readySchema = z.object({ iterates: z.boolean() });

/** `iterates`: this pgvector (0.8 or newer) continues a search when a filter leaves too few rows. */
export type VectorIndexFacts = z.infer<typeof readySchema>;

/** The complete index of a signature's vectors; undefined when there is none. */
export const findVectorIndex = (
  db: Queryable,
  signature: string,
): Promise<VectorIndexFacts | undefined> =>
  rowOf(db, readySchema, [`nightdesk_data.${indexNameOf(signature)}`], "find_vector_index")`
     select (select string_to_array(substring(extversion from '^\\d+\\.\\d+'), '.')::integer[] >= array[0, 8]
               from pg_extension where extname = 'vector') as iterates
       from pg_index where indexrelid = to_regclass($1) and indisvalid`;

type Build = { readonly how: "concurrently" | ""; readonly storage: string };

/**
 * With a million clustered vectors, the index finds .900 of the ten nearest with pgvector's default ef_construction of 64,
 * however many candidates a search reads, and all ten with 200 (bench/chunks-at-scale.ts). Building takes 4 and 12 minutes on two
 * cores.
 */
const ON_SERVER: Build = { how: "concurrently", storage: "with (ef_construction = 200)" };
/** The default of 64: the build blocks all other clients, and with 100,000 vectors it finds .999. */
const EMBEDDED: Build = { how: "", storage: "" };

const createStatement = (
  { how, storage }: Build,
  { signature, ...numbers }: IndexedSpace,
  schema: string,
): string =>
  `create index ${how} if not exists ${indexNameOf(signature)} on nightdesk_data.embeddings
   using hnsw ((${indexedVector(numbers, schema)}) ${schema}.${TYPES[numbers.precision]}_ip_ops) ${storage}
   where signature = '${signature}'`;

/**
 * Runs the body while no other process builds or drops a vector index. A separate transaction holds the lock and does nothing
 * else, because a build on a server runs outside of transactions.
 * @returns undefined when another process has the lock
 */
export const asOnlyBuilder = <T>(
  database: Database,
  body: () => Promise<T>,
): Promise<T | undefined> =>
  database.transaction(async (db) => {
    return (await tryLock(db, "vector_index")) ? body() : undefined;
  });

/** Builds an index outside of a transaction, while others read and write. */
export async function createIndexOnServer(database: Database, space: IndexedSpace): Promise<void> {
  const statement = createStatement(ON_SERVER, space, await selectVectorSchema(database));
  await database.within("build").query(statement);
}

/**
 * Builds an index in the embedded database, which has one session: no lease can be renewed during the build, so it first extends
 * those of running jobs.
 */
export async function createIndexEmbedded(database: Database, space: IndexedSpace): Promise<void> {
  await database.within("build").transaction(async (db) => {
    await execute(db)`
       update nightdesk_data.jobs set lease_until = clock_timestamp() + interval '30 minutes'
        where state = 'running'`;
    await execute(db)`${createStatement(EMBEDDED, space, await selectVectorSchema(db))}`;
  });
}

/** Drops an index; `concurrently` blocks no other session. */
export async function dropVectorIndex(
  database: Database,
  signature: string,
  how: "concurrently" | "at once",
): Promise<void> {
  const name = `nightdesk_data.${indexNameOf(signature)}`;
  // In class build, because a concurrent drop waits for every transaction that may use the index.
  await database
    .within("build")
    .query(`drop index ${how === "concurrently" ? how : ""} if exists ${name}`);
}

/** A vector in pgvector's text format. */
export const vectorText = (vector: Float32Array): string =>
  pgvector.toSql(Array.from(vector)) as string;
