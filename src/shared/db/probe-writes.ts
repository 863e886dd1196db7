import type { Failure } from "../failure.ts";
import { isStorageFault } from "../storage-fault.ts";
import type { Queryable } from "./database.ts";

/**
 * Asks whether the database takes writes, without one: a read-only server refuses the statement whatever it changes.
 * @returns the Failure that a write would end with; undefined when it would not
 */
export async function probeWrites(db: Queryable): Promise<Failure | undefined> {
  try {
    await db.query("update nightdesk_data.installation set windows = windows where false");
    return undefined;
  } catch (error) {
    // Translated by the connection.
    if (isStorageFault(error)) return error as Failure;
    throw error;
  }
}
