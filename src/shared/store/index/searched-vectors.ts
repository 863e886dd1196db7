import { z } from "zod";
import type { Database, Queryable } from "../connection/database.ts";
import { execute, rowOf, valuesOf } from "../connection/rows.ts";
import type { VectorSpace } from "./embeddings.ts";

/** The model and build whose vectors are searched, and the `embed.*` settings of its embedder. */
export type SearchedVectors = VectorSpace & { readonly settings: unknown };

const searchedSchema = z.object({
  model: z.string(),
  signature: z.string(),
  settings: z.unknown(),
});

/** The searched vectors: those of the last embedder that completed a vector for every chunk; undefined before the first. */
export const selectSearchedVectors = (db: Queryable): Promise<SearchedVectors | undefined> =>
  rowOf(db, searchedSchema, [], "select_searched_vectors")`
     select model, signature, settings from nightdesk_data.searched_vectors`;

/**
 * Makes these vectors the searched ones; every chunk must have one. Deletes the vectors that were searched before and those of
 * other builds of the model. If the signature is the same, updates its settings: the host may have moved.
 * @returns whether other vectors were searched before
 */
export const switchSearchedVectors = (
  database: Database,
  { model, signature, settings }: SearchedVectors,
): Promise<boolean> =>
  database.within("build").transaction(async (db) => {
    await execute(db, [model, signature, JSON.stringify(settings)])`
       insert into nightdesk_data.searched_vectors (model, signature, settings) values ($1, $2, $3)
       on conflict (singleton) do update set settings = excluded.settings
        where searched_vectors.signature = excluded.signature`;
    const [before = signature] = await valuesOf(db, z.string())`
       select signature from nightdesk_data.searched_vectors for update`;
    if (before === signature) return false;
    await execute(db, [model, signature, JSON.stringify(settings)])`
       update nightdesk_data.searched_vectors set model = $1, signature = $2, settings = $3, since = now()`;
    await execute(db, [model, signature, before])`
       delete from nightdesk_data.embeddings
        where signature = $3 or (model = $1 and signature <> $2)`;
    return true;
  });
