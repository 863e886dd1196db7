import pgvector from "pgvector";

/** A vector as the text that pgvector reads. */
export const vectorText = (vector: Float32Array): string =>
  pgvector.toSql(Array.from(vector)) as string;
