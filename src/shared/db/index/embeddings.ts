import { z } from "zod";
import type { Queryable } from "../database.ts";
import { vectorText } from "../vector.ts";

/** Whose vectors are meant. */
export type VectorSpace = { readonly model: string; readonly signature: string };

/** Chunks with a vector of this signature, with one of another, and without any of this model. */
export type EmbeddingState = {
  readonly chunks: number;
  readonly current: number;
  readonly outdated: number;
  readonly missing: number;
};

const stateSchema = z.object({ chunks: z.int(), current: z.int(), outdated: z.int() });

export async function measureEmbeddings(
  db: Queryable,
  { model, signature }: VectorSpace,
): Promise<EmbeddingState> {
  const { rows } = await db.query(
    `select (select coalesce(sum(chunks), 0) from nightdesk_data.chunk_counts)::integer as chunks,
            count(*) filter (where signature = $2)::integer as current,
            count(*) filter (where signature <> $2)::integer as outdated
       from nightdesk_data.embeddings where model = $1`,
    [model, signature],
  );
  const state = stateSchema.parse(rows[0]);
  return { ...state, missing: state.chunks - state.current - state.outdated };
}

export type ChunkToEmbed = {
  readonly chunkId: string;
  readonly headingPath: string | null;
  readonly title: string | null;
  readonly text: string;
};

/** Where a batch begins, and of which chunks it is: `due` ones miss a vector or hold one of another signature. */
export type EmbedBatch = {
  readonly afterChunkId: string;
  readonly limit: number;
  readonly which: "due" | "all";
};

const chunksSchema = z.array(
  z.object({
    chunk_id: z.string(),
    heading_path: z.string().nullable(),
    title: z.string().nullable(),
    text: z.string(),
  }),
);

/** The next chunks to embed, in order of their id. */
export async function loadChunksToEmbed(
  db: Queryable,
  { model, signature }: VectorSpace,
  { afterChunkId, limit, which }: EmbedBatch,
): Promise<ChunkToEmbed[]> {
  const { rows } = await db.query(
    `select c.chunk_id::text, c.heading_path, d.title, c.text
       from nightdesk_data.chunks c join nightdesk_data.documents d using (doc_id)
      where c.chunk_id > $1::bigint
        and ($5 = 'all' or not exists (
              select from nightdesk_data.embeddings e
               where e.chunk_id = c.chunk_id and e.model = $2 and e.signature = $3))
      order by c.chunk_id
      limit $4`,
    [afterChunkId, model, signature, limit, which],
  );
  return chunksSchema.parse(rows).map((row) => ({
    chunkId: row.chunk_id,
    headingPath: row.heading_path,
    title: row.title,
    text: row.text,
  }));
}

/**
 * Stores vectors, replacing those of the same model. A chunk that is gone meanwhile is left out.
 * @returns how many were stored
 */
export async function storeEmbeddings(
  db: Queryable,
  { model, signature }: VectorSpace,
  vectors: readonly { readonly chunkId: string; readonly vector: Float32Array }[],
): Promise<number> {
  const { rowCount } = await db.query(
    `insert into nightdesk_data.embeddings (chunk_id, model, signature, dims, embedding)
     select chunk_id, $1, $2, vector_dims(vector::vector), vector::vector
       from unnest($3::bigint[], $4::text[]) as u (chunk_id, vector)
       join (select chunk_id from nightdesk_data.chunks where chunk_id = any ($3::bigint[]) for key share) there
            using (chunk_id)
     on conflict (chunk_id, model) do update
        set signature = excluded.signature, dims = excluded.dims, embedding = excluded.embedding,
            embedded_at = now()`,
    [
      model,
      signature,
      vectors.map(({ chunkId }) => chunkId),
      vectors.map(({ vector }) => vectorText(vector)),
    ],
  );
  return rowCount ?? 0;
}
