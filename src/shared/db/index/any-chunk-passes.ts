import { z } from "zod";
import type { Queryable } from "../database.ts";
import { ALLOWED_CHUNKS, filterValues, isFiltered, type SearchFilter } from "./search-filter.ts";

const rowsSchema = z.tuple([z.object({ passing: z.int() })]);

/** Whether any chunk is in a document that a filter lets through, whatever the words of the question are. */
export async function anyChunkPasses(db: Queryable, filter: SearchFilter): Promise<boolean> {
  const documents = { ...filter, phrases: [], excluded: [] };
  if (!isFiltered(documents)) return true;
  const { rows } = await db.query(ANY, [1, ...filterValues(documents)]);
  return rowsSchema.parse(rows)[0].passing > 0;
}

const ANY = `
  with ${ALLOWED_CHUNKS}
  select count(*)::integer as passing from (select from allowed limit $1::bigint) passed`;
