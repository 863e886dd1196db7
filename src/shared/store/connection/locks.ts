import { z } from "zod";
import type { Queryable } from "./database.ts";

/** What one at a time does, of all workers. Each is a row that the role of `nightdesk sql` can't see, let alone lock. */
type LockName =
  "dispatch" | "retention" | "vector_index" | "compaction" | "approvals" | "artifacts";

/**
 * Common table expressions that take a lock until the transaction ends, or find that somebody else holds it:
 * `guard.held`, in one row. Not an advisory lock: whoever may run a statement could take that as well.
 */
export const guardBy = (name: LockName): string =>
  `locked as materialized (
  select name from nightdesk_data.locks where name = '${name}' for no key update skip locked),
guard as materialized (select exists (select from locked) as held)`;

const heldSchema = z.tuple([z.object({ held: z.boolean() })]);

/** Takes a lock until the transaction ends. @returns whether nobody else held it */
export async function tryLock(transaction: Queryable, name: LockName): Promise<boolean> {
  const { rows } = await transaction.query(`with ${guardBy(name)} select held from guard`);
  return heldSchema.parse(rows)[0].held;
}

const keySchema = z.tuple([z.object({ evidence_key: z.instanceof(Buffer) })]);

/** The secret of this installation from which the marks around evidence are derived, 32 bytes. */
export async function selectEvidenceKey(db: Queryable): Promise<Buffer> {
  const { rows } = await db.query("select evidence_key from nightdesk_data.installation");
  return keySchema.parse(rows)[0].evidence_key;
}
