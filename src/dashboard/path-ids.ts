import type { Queryable } from "../shared/store/connection/database.ts";
import { findBatch, isUuid } from "../shared/views/batches.ts";
import type { BatchProgress } from "../shared/views/batches.ts";
import { notFound } from "./failures.ts";

/** @throws Refused 404 for an invalid id, before the database is queried */
export function assertId(text: string, noun: string): string {
  if (isUuid(text)) return text;
  throw notFound(`${JSON.stringify(text.slice(0, 80))} is no id of a ${noun}; expected a UUID.`);
}

/** The batch with an id from a path. @throws Refused 404 */
export async function batchOf(db: Queryable, id: string): Promise<BatchProgress> {
  const batch = await findBatch(db, assertId(id, "batch"));
  if (batch !== undefined) return batch;
  throw notFound(`There is no batch ${id}: it may have been deleted for its age.`);
}
