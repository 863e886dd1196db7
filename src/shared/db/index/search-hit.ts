import { z } from "zod";

/** A chunk that a search found, with the search's own score: BM25, or cosine similarity. */
export type SearchHit = {
  readonly chunkId: string;
  readonly docId: string;
  readonly chunkKey: string;
  /** Place of the chunk in its document. */
  readonly ordinal: number;
  readonly score: number;
};

const rowsSchema = z.array(
  z.object({
    chunk_id: z.string(),
    doc_id: z.string(),
    chunk_key: z.string(),
    ordinal: z.int(),
    score: z.number(),
  }),
);

export const parseHits = (rows: unknown): SearchHit[] =>
  rowsSchema.parse(rows).map((row) => ({
    chunkId: row.chunk_id,
    docId: row.doc_id,
    chunkKey: row.chunk_key,
    ordinal: row.ordinal,
    score: row.score,
  }));
